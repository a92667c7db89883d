import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: {
    title: v.string(),
    tags: v.array(v.string()),
    ingredients: v.array(v.object({ name: v.string(), grams: v.number() })),
    nutrition: v.object({
      calories: v.number(),
      macros: v.object({
        protein: v.number(),
        fat: v.number(),
        carbs: v.number(),
      }),
    }),
  },
  handler: async (ctx, args) => {
    return await ctx.db.insert("recipes", { ...args, ratings: {} });
  },
});

export const rate = mutation({
  args: {
    recipeId: v.id("recipes"),
    userId: v.id("users"),
    rating: v.number(),
  },
  handler: async (ctx, { recipeId, userId, rating }) => {
    const recipe = await ctx.db.get("recipes", recipeId);
    if (recipe === null) {
      throw new Error(`There is no recipe ${recipeId}`);
    }
    // A patch replaces the whole field, so the other ratings must be in it.
    await ctx.db.patch("recipes", recipeId, {
      ratings: { ...recipe.ratings, [userId]: rating },
    });
    return null;
  },
});

export const summary = query({
  args: { recipeId: v.id("recipes") },
  handler: async (ctx, { recipeId }) => {
    const recipe = await ctx.db.get("recipes", recipeId);
    if (recipe === null) {
      return null;
    }
    const ratings = Object.values(recipe.ratings);
    return {
      title: recipe.title,
      ingredientNames: recipe.ingredients.map(({ name }) => name),
      totalGrams: sum(recipe.ingredients.map(({ grams }) => grams)),
      ratingCount: ratings.length,
      averageRating: ratings.length > 0 ? sum(ratings) / ratings.length : null,
    };
  },
});

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
