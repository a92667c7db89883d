import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const createArtist = mutation({
  args: { name: v.string(), genre: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("artists", args);
  },
});

export const addSong = mutation({
  args: { artistId: v.id("artists"), title: v.string(), year: v.number() },
  handler: async (ctx, args) => {
    const artist = await ctx.db.get("artists", args.artistId);
    if (artist === null) {
      throw new Error(`There is no artist ${args.artistId}`);
    }
    return await ctx.db.insert("songs", { ...args, genre: artist.genre });
  },
});

export const setGenre = mutation({
  args: { artistId: v.id("artists"), genre: v.string() },
  handler: async (ctx, { artistId, genre }) => {
    await ctx.db.patch("artists", artistId, { genre });
    const songs = await ctx.db
      .query("songs")
      .withIndex("by_artistId", (q) => q.eq("artistId", artistId))
      .collect();
    for (const song of songs) {
      await ctx.db.patch("songs", song._id, { genre });
    }
    return null;
  },
});

export const listSongs = query({
  args: { genre: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { genre, paginationOpts }) => {
    const songs = await ctx.db
      .query("songs")
      .withIndex("by_genre_and_year", (q) => q.eq("genre", genre))
      .order("desc")
      .paginate(paginationOpts);
    return {
      ...songs,
      page: songs.page.map(({ _id, artistId, title, year }) => ({
        songId: _id,
        artistId,
        title,
        year,
      })),
    };
  },
});
