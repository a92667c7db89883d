/** What `convexTest(schema, modules)` needs to find the functions. */
export const modules = import.meta.glob(["./**/*.ts", "./**/*.js", "!./**/*.*.ts"]);
