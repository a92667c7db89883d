import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  artists: defineTable({
    name: v.string(),
    genre: v.string(),
  }),

  songs: defineTable({
    artistId: v.id("artists"),
    title: v.string(),
    year: v.number(),
    // A copy of the artist's, because an index covers only fields of its own table.
    genre: v.string(),
  })
    .index("by_artistId", ["artistId"])
    .index("by_genre_and_year", ["genre", "year"]),
});
