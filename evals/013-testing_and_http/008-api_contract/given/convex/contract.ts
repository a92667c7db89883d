import { v } from "convex/values";
import { defineContract } from "./lib/contract";

const problem = v.object({ error: v.string() });
const status = v.union(v.literal("waiting"), v.literal("on the way"), v.literal("delivered"));

const content = v.union(
  v.object({
    type: v.literal("goods"),
    items: v.array(v.object({ name: v.string(), value: v.int64(), size: v.optional(v.number()) })),
  }),
  v.object({ type: v.literal("papers"), pages: v.number(), secret: v.boolean() }),
);

const order = v.object({
  weight: v.number(),
  content,
  tags: v.array(v.string()),
  insured: v.optional(v.nullable(v.int64())),
  notes: v.optional(v.record(v.string(), v.string())),
});

export const parcel = order.extend({ depot: v.string(), number: v.int64(), status });

export const contract = defineContract({
  health: {
    method: "GET",
    path: "/health",
    responses: { 200: v.object({ ok: v.literal(true) }) },
  },
  listParcels: {
    method: "GET",
    path: "/depots/{depot}/parcels",
    params: { depot: v.string() },
    query: {
      status: v.optional(status),
      minWeight: v.optional(v.number()),
      tag: v.array(v.string()),
    },
    paginated: { default: 3, max: 10 },
    responses: { 200: parcel, 404: problem },
  },
  createParcel: {
    method: "POST",
    path: "/depots/{depot}/parcels",
    params: { depot: v.string() },
    headers: { "x-agent": v.string(), "x-priority": v.optional(v.union(v.literal(1), v.literal(2), v.literal("express"))) },
    body: order,
    maxBytes: 1000,
    idempotent: true,
    responses: { 201: v.object({ number: v.int64(), by: v.string() }), 403: problem },
  },
  getParcel: {
    method: "GET",
    path: "/depots/{depot}/parcels/{number}",
    params: { depot: v.string(), number: v.int64() },
    etag: true,
    responses: { 200: parcel, 404: problem },
  },
  replaceParcel: {
    method: "PUT",
    path: "/depots/{depot}/parcels/{number}",
    params: { depot: v.string(), number: v.int64() },
    body: order,
    ifMatch: "getParcel",
    responses: { 200: parcel, 409: v.object({ error: v.string(), status }) },
  },
  removeParcel: {
    method: "DELETE",
    path: "/depots/{depot}/parcels/{number}",
    params: { depot: v.string(), number: v.int64() },
    query: { force: v.optional(v.boolean()) },
    ifMatch: "getParcel",
    responses: { 204: v.null(), 409: problem },
  },
  moveParcel: {
    method: "POST",
    path: "/depots/{depot}/parcels/{number}/moves",
    params: { depot: v.string(), number: v.int64() },
    body: v.union(v.object({ type: v.literal("load") }), v.object({ type: v.literal("deliver"), to: v.string() })),
    responses: { 200: v.object({ status, delivered: v.nullable(v.string()) }), 404: problem, 409: problem },
  },
  // The library is tested with these two.
  echo: {
    method: "POST",
    path: "/echo/{word}/{ratio}/{big}/{view}",
    params: {
      word: v.string(),
      ratio: v.number(),
      big: v.int64(),
      view: v.union(v.literal("full"), v.literal(2), v.boolean()),
    },
    query: {
      flag: v.boolean(),
      size: v.optional(v.union(v.int64(), v.literal("max"))),
      ratios: v.optional(v.array(v.number())),
      level: v.optional(v.number()),
    },
    headers: { "x-count": v.int64(), "x-mode": v.optional(v.union(v.literal("a"), v.literal("b"))) },
    body: v.union(
      v.null(),
      v.object({
        type: v.literal("tree"),
        name: v.string(),
        leaves: v.array(v.object({ size: v.union(v.int64(), v.string()), soft: v.optional(v.boolean()) })),
        marks: v.record(v.string(), v.nullable(v.number())),
      }),
      v.object({ type: v.literal("stone"), weight: v.union(v.literal(1), v.literal("heavy")) }),
      v.array(v.number()),
    ),
    responses: {
      200: v.object({
        types: v.array(v.string()),
        params: v.object({ word: v.string(), ratio: v.number(), big: v.int64(), view: v.union(v.string(), v.number(), v.boolean()) }),
        query: v.object({
          flag: v.boolean(),
          size: v.optional(v.union(v.int64(), v.string())),
          ratios: v.optional(v.array(v.number())),
          level: v.optional(v.number()),
        }),
        headers: v.object({ "x-count": v.int64(), "x-mode": v.optional(v.string()) }),
        body: v.union(
          v.null(),
          v.object({
            type: v.literal("tree"),
            name: v.string(),
            leaves: v.array(v.object({ size: v.union(v.int64(), v.string()) })),
            marks: v.record(v.string(), v.nullable(v.number())),
          }),
          v.object({ type: v.literal("stone"), weight: v.union(v.literal(1), v.literal("heavy")) }),
          v.array(v.number()),
        ),
      }),
    },
  },
  fail: {
    method: "POST",
    path: "/fail",
    idempotent: true,
    query: { how: v.union(v.literal("throw"), v.literal("gone"), v.literal("wait")) },
    responses: { 202: v.null(), 410: problem },
  },
});
