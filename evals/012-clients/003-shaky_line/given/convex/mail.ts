import { ConvexError, v } from "convex/values";
import { action } from "./_generated/server";

declare const process: { env: { MAIL_SERVER: string } };

/**
 * Mails a text. The mail server sends only one mail for each `mailId`, no matter how often it is asked to. It takes its
 * time. A text that it does not like is a ConvexError; everything else that goes wrong is another error.
 */
export const send = action({
  args: { mailId: v.string(), text: v.string() },
  handler: async (_ctx, { mailId, text }) => {
    const response = await fetch(process.env.MAIL_SERVER, { method: "POST", body: JSON.stringify({ mailId, text }) });
    if (response.status === 422) throw new ConvexError(`${text} is not fit to be mailed`);
    if (!response.ok) throw new Error(`The mail server responded with ${response.status}`);
  },
});
