export const skipped = "two dots";
