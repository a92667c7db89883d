import { v } from "convex/values";
import { views } from "./views";

export const mine = views.query("patient")({
  args: {},
  handler: async ({ db, viewer }) => {
    const me = await db.get("patients", viewer.patientId);
    const visits = await db.list("visits", { sort: "-at", with: { doctor: "doctorId" } });
    return { me, visits };
  },
});

export const timeline = views.query("reception", "doctor", "patient")({
  args: { cursor: v.nullable(v.string()), size: v.number() },
  handler: async (ctx, { cursor, size }) => {
    switch (ctx.role) {
      case "reception":
        return await ctx.db.page("visits", { cursor, size, sort: "at" });
      case "doctor":
        return await ctx.db.page("visits", { cursor, size, sort: "-at", where: { kind: "surgery" } });
      case "patient":
        return await ctx.db.page("visits", { cursor, size });
    }
  },
});

export const complications = views.query("doctor")({
  args: { worst: v.number() },
  handler: async ({ db }, args) => {
    const visits = await db.list("visits", { where: { "outcome.severity": { to: args.worst } }, limit: 5 });
    return visits.flatMap((visit) =>
      visit.kind === "surgery" && visit.outcome.kind === "complication" ? [visit.outcome.text] : [],
    );
  },
});

export const assess = views.mutation("doctor")({
  args: { id: v.id("patients"), score: v.number(), allergies: v.optional(v.array(v.string())) },
  handler: async ({ db }, { id, score, allergies }) => {
    await db.patch("patients", id, allergies === undefined ? { "risk.score": score } : { "risk.score": score, allergies });
    const patient = await db.get("patients", id, { with: { assessor: "risk.by" } });
    return patient?.assessor?.name ?? null;
  },
});

export const write = views.mutation("patient")({
  args: { text: v.string(), visitId: v.optional(v.id("visits")) },
  handler: async ({ db, viewer: { patientId } }, args) => {
    const id = await db.insert("messages", { ...args, patientId, from: "patient", sentAt: Date.now() });
    return await db.get("messages", id, { with: { visit: "visitId" } });
  },
});

export const contact = views.mutation("reception", "patient")({
  args: { patientId: v.id("patients"), phone: v.string() },
  handler: async (ctx, { patientId, phone }) => {
    if (ctx.role === "reception") await ctx.db.patch("patients", patientId, { "contact.phone": phone });
    else await ctx.db.patch("patients", ctx.viewer.patientId, { "contact.phone": phone });
    return ctx.role;
  },
});
