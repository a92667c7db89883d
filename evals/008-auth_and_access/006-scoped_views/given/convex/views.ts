import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import { defineViews } from "./lib/views";
import schema from "./schema";

type Viewer =
  | { role: "reception"; staffId: Id<"staff"> }
  | { role: "doctor"; staffId: Id<"staff"> }
  | { role: "patient"; patientId: Id<"patients"> };

async function identify(ctx: QueryCtx): Promise<Viewer | null> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) return null;
  const staff = await ctx.db
    .query("staff")
    .withIndex("by_subject", (q) => q.eq("subject", identity.subject))
    .unique();
  if (staff !== null) return { role: staff.role, staffId: staff._id };
  const patient = await ctx.db
    .query("patients")
    .withIndex("by_subject", (q) => q.eq("subject", identity.subject))
    .unique();
  return patient && { role: "patient", patientId: patient._id };
}

export const views = defineViews(schema, identify, {
  staff: {
    reception: { see: ["_id", "name", "role", "phone"], filter: ["role"], sort: ["name"], write: ["phone"] },
    doctor: { see: ["_id", "name", "role", "phone"], filter: "all", sort: "all" },
    patient: { see: ["name"], rows: (member) => member.role === "doctor", sort: ["name"] },
  },
  patients: {
    reception: {
      see: ["_id", "_creationTime", "name", "born", "contact", "insurance.kind", "insurance.number"],
      filter: ["name", "contact.address.city", "insurance.kind"],
      sort: ["name", "born", "contact.email"],
      write: ["name", "contact.phone", "contact.address", "insurance.number"],
      add: ["name", "born", "contact", "insurance", "allergies"],
    },
    doctor: { see: "all", filter: "all", sort: "all", write: ["allergies", "vitals", "risk.score", "contact.address.city"] },
    patient: {
      see: ["_id", "name", "contact.phone", "contact.email", "insurance", "vitals", "allergies"],
      rows: (patient, viewer) => patient._id === viewer.patientId,
      write: ["contact.phone", "contact.email"],
    },
  },
  visits: {
    reception: {
      see: ["_id", "kind", "patientId", "doctorId", "at", "reason", "room", "price", "outcome.days"],
      only: { "outcome.kind": ["success"] },
      filter: ["kind", "patientId", "doctorId", "at", "price", "outcome.days"],
      sort: ["at", "price", "outcome.days"],
      write: ["at", "room", "price", "outcome.days"],
      add: ["kind", "patientId", "doctorId", "at", "reason", "entries"],
      remove: true,
    },
    doctor: {
      see: "all",
      only: { kind: ["consultation", "surgery"] },
      rows: (visit, viewer) =>
        visit.doctorId === viewer.staffId || (visit.kind === "surgery" && visit.team.includes(viewer.staffId)),
      filter: "all",
      sort: "all",
      write: "all",
      add: "all",
    },
    patient: {
      see: ["_id", "kind", "patientId", "doctorId", "at", "entries.kind", "entries.text", "entries.code", "outcome"],
      only: {
        kind: ["consultation", "surgery"],
        "entries.kind": ["note", "diagnosis"],
        "outcome.kind": ["success"],
      },
      rows: (visit, viewer) => visit.kind !== "blocked" && visit.patientId === viewer.patientId,
      filter: "all",
      sort: ["at"],
    },
  },
  messages: {
    reception: "all",
    doctor: { see: ["_id", "patientId", "visitId", "text", "flag.urgent"], filter: "all", sort: ["text"], write: ["flag.urgent"] },
    patient: {
      see: ["_id", "from", "text", "sentAt", "visitId", "patientId"],
      rows: (message, viewer) => message.patientId === viewer.patientId,
      filter: ["from", "visitId"],
      sort: ["sentAt"],
      write: ["text", "patientId"],
      add: ["patientId", "visitId", "from", "text", "sentAt", "flag"],
      remove: true,
    },
  },
  audits: {},
});
