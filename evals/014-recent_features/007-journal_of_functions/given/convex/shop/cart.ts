import { part } from "./factory";

export const { show, save, reset } = part();

// Older apps still call it by this name.
export { save as store };
