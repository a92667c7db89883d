import { part } from "../factory";

const parts = part();
export const place = parts.save;
export const look = parts.show;
