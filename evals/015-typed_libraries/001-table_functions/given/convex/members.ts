import { tableFunctions } from "./lib/tableFunctions";

export const { create, read, update, replace, list, remove } = tableFunctions("members", {
  hide: ["passwordHash", "recoveryCode"],
});
