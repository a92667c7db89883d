import { part } from "../factory";

export const { show, save, reset } = part();
