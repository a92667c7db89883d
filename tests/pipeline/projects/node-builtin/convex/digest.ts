import { createHash } from "node:crypto";
import { action } from "./_generated/server";

export const sha256 = action({
  args: {},
  handler: () => createHash("sha256").update("").digest("hex"),
});
