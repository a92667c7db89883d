import { helper } from "./helpers";

export const value = helper();
