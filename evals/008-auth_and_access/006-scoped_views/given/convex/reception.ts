import { v } from "convex/values";
import type { ViewReader, ViewWriter } from "./lib/views";
import { views } from "./views";

type Db = ViewReader<typeof views, "reception">;

const byName = async (db: Db, name: string) => await db.list("patients", { where: { name }, sort: "-born" });

export const find = views.query("reception")({
  args: { name: v.string() },
  handler: async ({ db }, args) =>
    (await byName(db, args.name)).map((patient) => ({
      id: patient._id,
      phone: patient.contact.phone,
      insured: patient.insurance === null ? null : patient.insurance.kind,
    })),
});

export const inCity = views.query("reception")({
  args: { city: v.string(), insurance: v.optional(v.union(v.literal("public"), v.literal("private"))) },
  handler: async ({ db }, args) =>
    await db.list("patients", {
      where: { "contact.address.city": args.city, "insurance.kind": args.insurance },
      sort: "name",
    }),
});

export const day = views.query("reception")({
  args: { from: v.number(), to: v.number() },
  handler: async ({ db }, args) => {
    const visits = await db.list("visits", {
      where: { at: { from: args.from, to: args.to } },
      sort: "at",
      with: { patient: "patientId", doctor: "doctorId" },
    });
    return visits.map((visit) => {
      const where = visit.kind === "surgery" ? visit.room : "practice";
      return { kind: visit.kind, where, doctor: visit.doctor?.name ?? "?", patient: visit.patient?.name ?? null };
    });
  },
});

export const workload = views.query("reception")({
  args: { doctors: v.array(v.id("staff")) },
  handler: async ({ db, viewer }, args) => ({
    visits: await db.count("visits", { where: { doctorId: { in: args.doctors } } }),
    unread: await db.count("messages", { where: { from: "patient", "flag.urgent": true } }),
    own: (await db.get("staff", viewer.staffId))?.phone ?? "none",
  }),
});

const move = async (db: ViewWriter<typeof views, "reception">, phone: string, born: number) => {
  const moved = (await db.list("patients")).filter((patient) => patient.born === born);
  for (const { _id } of moved) await db.patch("patients", _id, { "contact.phone": phone, "contact.address": undefined });
  return await byName(db, "Ada");
};

export const moved = views.mutation("reception")({
  args: { phone: v.string(), born: v.number() },
  handler: async ({ db }, args) => (await move(db, args.phone, args.born)).length,
});

export const book = views.mutation("reception")({
  args: { patientId: v.id("patients"), doctorId: v.id("staff"), at: v.number(), reason: v.string() },
  handler: async ({ db }, args) =>
    await db.insert("visits", { ...args, kind: "consultation", entries: [] }),
});

export const cancel = views.mutation("reception")({
  args: { id: v.id("visits") },
  handler: async ({ db }, { id }) => {
    const visit = await db.get("visits", id);
    if (visit?.kind === "surgery" && visit.outcome !== undefined) return `healed in ${visit.outcome.days} days`;
    await db.remove("visits", id);
    return "cancelled";
  },
});
