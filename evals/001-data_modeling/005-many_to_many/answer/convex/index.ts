import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

const pair = { studentId: v.id("students"), courseId: v.id("courses") };

export const enroll = mutation({
  args: pair,
  handler: async (ctx, { studentId, courseId }) => {
    if ((await findEnrollment(ctx, studentId, courseId)) === null) {
      await ctx.db.insert("enrollments", { studentId, courseId });
    }
    return null;
  },
});

export const unenroll = mutation({
  args: pair,
  handler: async (ctx, { studentId, courseId }) => {
    const enrollment = await findEnrollment(ctx, studentId, courseId);
    if (enrollment !== null) {
      await ctx.db.delete("enrollments", enrollment._id);
    }
    return null;
  },
});

export const isEnrolled = query({
  args: pair,
  handler: async (ctx, { studentId, courseId }) => {
    return (await findEnrollment(ctx, studentId, courseId)) !== null;
  },
});

export const coursesOf = query({
  args: { studentId: v.id("students") },
  handler: async (ctx, { studentId }) => {
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("by_studentId", (q) => q.eq("studentId", studentId))
      .collect();
    const courses = await Promise.all(
      enrollments.map(({ courseId }) => ctx.db.get("courses", courseId)),
    );
    return courses.filter((course) => course !== null);
  },
});

export const studentsOf = query({
  args: { courseId: v.id("courses") },
  handler: async (ctx, { courseId }) => {
    const enrollments = await ctx.db
      .query("enrollments")
      .withIndex("by_courseId", (q) => q.eq("courseId", courseId))
      .collect();
    const students = await Promise.all(
      enrollments.map(({ studentId }) => ctx.db.get("students", studentId)),
    );
    return students.filter((student) => student !== null);
  },
});

async function findEnrollment(
  ctx: QueryCtx,
  studentId: Id<"students">,
  courseId: Id<"courses">,
) {
  return await ctx.db
    .query("enrollments")
    .withIndex("by_studentId_and_courseId", (q) =>
      q.eq("studentId", studentId).eq("courseId", courseId),
    )
    .unique();
}
