import { defineSchema } from "convex/server";
import { callingTables } from "./tables/calling";
import { documentTables } from "./tables/documents";
import { fileTables } from "./tables/files";
import { handleTables } from "./tables/handles";
import { limitTables } from "./tables/limits";
import { pagingTables } from "./tables/paging";
import { queryTables } from "./tables/querying";
import { schedulingTables } from "./tables/scheduling";
import { searchTables } from "./tables/searching";
import { transactionTables } from "./tables/transactions";
import { writingTables } from "./tables/writing";

// One file of tables per section of the checklist, so that sections do not get in each other's way.
export default defineSchema({
  ...callingTables,
  ...documentTables,
  ...fileTables,
  ...handleTables,
  ...limitTables,
  ...pagingTables,
  ...queryTables,
  ...schedulingTables,
  ...searchTables,
  ...transactionTables,
  ...writingTables,
});
