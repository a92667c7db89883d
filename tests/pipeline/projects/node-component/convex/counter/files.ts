"use node";

import { readFileSync } from "node:fs";
import { action } from "./_generated/server";

export const read = action({ args: {}, handler: async () => readFileSync("/etc/hostname", "utf8") });
