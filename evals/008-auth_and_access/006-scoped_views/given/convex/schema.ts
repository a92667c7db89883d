import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const address = v.object({ street: v.string(), city: v.string() });

export default defineSchema({
  staff: defineTable({
    subject: v.string(),
    name: v.string(),
    role: v.union(v.literal("reception"), v.literal("doctor")),
    phone: v.optional(v.string()),
    salary: v.number(),
  }).index("by_subject", ["subject"]),

  patients: defineTable({
    subject: v.optional(v.string()),
    name: v.string(),
    born: v.number(),
    contact: v.object({ phone: v.string(), email: v.optional(v.string()), address: v.optional(address) }),
    insurance: v.union(
      v.null(),
      v.object({ kind: v.literal("public"), number: v.string() }),
      v.object({ kind: v.literal("private"), company: v.string(), rate: v.number() }),
    ),
    allergies: v.array(v.string()),
    vitals: v.optional(v.record(v.string(), v.number())),
    risk: v.optional(v.object({ score: v.number(), by: v.id("staff") })),
  }).index("by_subject", ["subject"]),

  visits: defineTable(
    v.union(
      v.object({
        kind: v.literal("consultation"),
        patientId: v.id("patients"),
        doctorId: v.id("staff"),
        at: v.number(),
        reason: v.string(),
        entries: v.array(
          v.union(
            v.object({ kind: v.literal("note"), text: v.string(), by: v.id("staff") }),
            v.object({ kind: v.literal("diagnosis"), code: v.string(), certainty: v.number() }),
            v.object({ kind: v.literal("internal"), text: v.string() }),
          ),
        ),
        price: v.optional(v.number()),
      }),
      v.object({
        kind: v.literal("surgery"),
        patientId: v.id("patients"),
        doctorId: v.id("staff"),
        at: v.number(),
        room: v.string(),
        team: v.array(v.id("staff")),
        outcome: v.union(
          v.object({ kind: v.literal("success"), days: v.number() }),
          v.object({ kind: v.literal("complication"), text: v.string(), severity: v.number(), reportedBy: v.optional(v.id("staff")) }),
        ),
        price: v.number(),
      }),
      v.object({
        kind: v.literal("blocked"),
        doctorId: v.id("staff"),
        at: v.number(),
        reason: v.string(),
      }),
    ),
  ),

  messages: defineTable({
    patientId: v.id("patients"),
    visitId: v.optional(v.id("visits")),
    from: v.union(v.literal("patient"), v.literal("practice")),
    text: v.string(),
    sentAt: v.number(),
    flag: v.optional(v.union(v.null(), v.object({ urgent: v.boolean(), by: v.id("staff"), remark: v.string() }))),
  }),

  audits: defineTable({ text: v.string(), patientId: v.id("patients") }),
});
