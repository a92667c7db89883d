import type { ConvexReactClient } from "convex/react";
import { api } from "../convex/_generated/api";

/** What the client says of an action that was under way when the connection was lost: nobody knows whether it ran. */
const LOST = "Connection lost while action was in flight";

/** Unlike mutations, actions are not sent again by the client. The mail server knows this mail by its id. */
export async function mail(convex: ConvexReactClient, text: string): Promise<void> {
  const mailId = crypto.randomUUID();
  for (;;) {
    try {
      await convex.action(api.mail.send, { mailId, text });
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(LOST))) throw error;
    }
  }
}
