import { v } from "convex/values";
import { defineMachine } from "./lib/machine";

const payment = v.object({
  method: v.union(v.literal("card"), v.literal("transfer")),
  cents: v.number(),
});

export const orders = defineMachine({
  table: "orders",
  audit: "orderChanges",
  fields: { customer: v.string(), note: v.optional(v.string()) },
  states: {
    draft: { items: v.array(v.string()) },
    placed: { items: v.array(v.string()), placedAt: v.number() },
    paid: { items: v.array(v.string()), placedAt: v.number(), payment },
    shipped: {
      items: v.array(v.string()),
      payment,
      tracking: v.string(),
      carrier: v.optional(v.string()),
    },
    returned: { payment, carrier: v.optional(v.string()), reason: v.string() },
    cancelled: {
      payment: v.optional(payment),
      reason: v.optional(v.string()),
    },
  },
  initial: "draft",
  transitions: {
    edit: { from: ["draft"], to: "draft" },
    place: { from: ["draft"], to: "placed" },
    pay: { from: ["placed"], to: "paid" },
    ship: { from: ["paid"], to: "shipped" },
    takeBack: { from: ["shipped"], to: "returned" },
    cancel: { from: ["draft", "placed", "paid"], to: "cancelled" },
    refuse: { from: ["shipped", "cancelled"], to: "returned" },
    reopen: { from: ["placed", "cancelled"], to: "draft" },
  },
});

export const tickets = defineMachine({
  table: "tickets",
  audit: "ticketChanges",
  fields: { title: v.string() },
  states: {
    open: {},
    assigned: { assignee: v.id("people") },
    closed: { assignee: v.id("people"), closedAt: v.number() },
  },
  initial: "open",
  transitions: {
    assign: { from: ["open", "assigned"], to: "assigned" },
    release: { from: ["assigned"], to: "open" },
    close: { from: ["open", "assigned"], to: "closed" },
  },
});
