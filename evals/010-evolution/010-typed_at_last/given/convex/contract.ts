/** What our clients rely on: they have a copy of this file. `Arguments` and `Results` are by the names of the functions. */
import type { PaginationOptions, PaginationResult } from "convex/server";
import type { Id } from "./_generated/dataModel";

export type Contact = { kind: "email"; address: string } | { kind: "phone"; number: string; texts: boolean };

export type Spec =
  | { family: "strings"; strings: number; fretted: boolean }
  | { family: "wind"; material: "wood" | "brass" | "silver"; pitch: string | null }
  | { family: "keys"; keys: number; power: { volts: number } | null };
export type Family = Spec["family"];

export type Bench = 1 | 2 | 3 | 4;
export type Priority = "normal" | "urgent";

export type State =
  | { phase: "waiting" }
  | { phase: "quoted"; cents: number; validUntil: number }
  | { phase: "working"; bench: Bench; since: number; quote: number | null }
  | { phase: "done"; at: number; cents: number }
  | { phase: "declined"; reason: string | null };
export type Phase = State["phase"];

export type Entry =
  | { type: "moved"; from: Phase; to: Phase }
  | { type: "part"; sku: string; count: number }
  | { type: "note"; text: string; author: string | null };

export type Settings = {
  benches: Bench[];
  currency: "EUR" | "CHF";
  hourlyCents: number;
  vat: { percent: number; included: boolean };
};
export type Setting = { [Key in keyof Settings]: { key: Key; value: Settings[Key] } }[keyof Settings];

export type Bill = { cents: number; vat: number; currency: "EUR" | "CHF"; parts: { sku: string; count: number; cents: number }[] };

export type Payloads = {
  quote: { cents: number; days: number };
  start: { bench: Bench };
  use: { sku: string; count: number };
  note: { text: string; author: string | null };
  finish: { minutes: number; discount?: number };
  decline: { reason: string | null };
};
export type Kind = keyof Payloads;
export type Outcomes = {
  quote: { validUntil: number };
  start: { quote: number | null; ahead: Id<"jobs">[] };
  use: { left: number | null };
  note: null;
  finish: Bill;
  decline: { wasQuoted: boolean };
};
export type Command = { [K in Kind]: { kind: K; payload: Payloads[K] } }[Kind];

export type Customer = {
  customerId: Id<"customers">;
  name: string;
  contact: Contact;
  discountPercent?: number;
  note: string | null;
};
export type Instrument = { instrumentId: Id<"instruments">; label: string; spec: Spec; serial?: string };
export type Job = {
  jobId: Id<"jobs">;
  title: string;
  priority: Priority;
  state: State;
  parts: Record<string, number>;
  instrument: Instrument | null;
};
export type Part = { sku: string; name: string; cents: number; stock: number | null };
export type Batch =
  | { table: "customers"; rows: { name: string; contact: Contact; discountPercent?: number; note: string | null }[] }
  | { table: "parts"; rows: Part[] };
export type Summary = {
  phases: { waiting: number; quoted: number; working: number; done: number; declined: number };
  families: { [F in Family]: { jobs: number; cents: number } };
  busiest: Bench | null;
};

export type Arguments = {
  "customers.add": { name: string; contact: Contact; discountPercent?: number | null; note?: string };
  "customers.get": { customerId: Id<"customers"> };
  "customers.change": {
    customerId: Id<"customers">;
    changes: { name?: string; contact?: Contact; discountPercent?: number | null; note?: string | null };
  };
  "instruments.add": { ownerId: Id<"customers">; label: string; spec: Spec; serial?: string };
  "instruments.get": { instrumentId: Id<"instruments"> };
  "instruments.ofCustomer": { customerId: Id<"customers">; family?: Family };
  "jobs.open": { instrumentId: Id<"instruments">; title: string; priority?: Priority };
  "jobs.get": { jobId: Id<"jobs"> };
  "jobs.list": { phase: Phase; paginationOpts: PaginationOptions };
  "jobs.run": { jobId: Id<"jobs">; command: Command };
  "jobs.history": { jobId: Id<"jobs">; type?: Entry["type"] };
  "jobs.timeline": { jobId: Id<"jobs"> };
  "parts.put": Part;
  "parts.find": { skus: string[] };
  "settings.get": { key: keyof Settings };
  "settings.set": { setting: Setting };
  "settings.all": {};
  "reports.summary": { from: number; to: number };
  "reports.statement": { customerId: Id<"customers"> };
  "imports.load": { batch: Batch };
};

export type Results = {
  "customers.add": Id<"customers">;
  "customers.get": Customer | null;
  "customers.change": null;
  "instruments.add": Id<"instruments">;
  "instruments.get": Instrument | null;
  "instruments.ofCustomer": Instrument[];
  "jobs.open": Id<"jobs">;
  "jobs.get": Job | null;
  "jobs.list": PaginationResult<Job>;
  "jobs.run": Outcomes[Kind];
  "jobs.history": { at: number; entry: Entry }[];
  "jobs.timeline": string[];
  "parts.put": Id<"parts">;
  "parts.find": Record<string, Part | null>;
  "settings.get": Settings[keyof Settings];
  "settings.set": null;
  "settings.all": Settings;
  "reports.summary": Summary;
  "reports.statement": { to: Contact; lines: string[]; openCents: number };
  "imports.load": (Id<"customers"> | Id<"parts">)[];
};
