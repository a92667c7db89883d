import schema from "../schema";
import type { TableNames } from "../_generated/dataModel";

/** The fields of an index, in order, with `_creationTime`, which Convex adds to the indexes of the schema. */
export function indexFields(table: TableNames, index: string): string[] {
  if (index === "by_id") return ["_id"];
  if (index === "by_creation_time") return ["_creationTime"];
  const found = schema.tables[table][" indexes"]().find((each) => each.indexDescriptor === index);
  if (found === undefined) throw new Error(`The table ${table} has no index ${index}`);
  return [...found.fields, "_creationTime"];
}
