import { defineTable } from "convex/server";
import { v } from "convex/values";

export const queryTables = {
  querying_rows: defineTable(v.any())
    .index("by_x", ["x"])
    .index("by_x_y", ["x", "y"])
    .index("by_nested", ["a.b"])
    .index("staged_z", { fields: ["z"], staged: true })
    .searchIndex("search_text", { searchField: "text" }),
};
