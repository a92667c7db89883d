import {
  a as t,
  b as d,
  c,
  e as a,
  f as n
} from "./_deps/CWOSZJTS.js";
import {
  a as s
} from "./_deps/EVCRMLF3.js";

// convex/messages.ts
var i = 0, l = Date.now(), g = Math.random(), u = a({
  args: {},
  handler: /* @__PURE__ */ s(async (r) => await r.db.query("messages").collect(), "handler")
}), h = a({
  args: {},
  handler: /* @__PURE__ */ s(async (r) => await r.db.query("messages").first(), "handler")
}), x = a({
  args: {},
  handler: /* @__PURE__ */ s(async (r) => {
    let e = [];
    for await (let o of r.db.query("messages"))
      if (e.push(o), e.length === 3) break;
    return e;
  }, "handler")
}), f = n({
  args: { body: t.string() },
  handler: /* @__PURE__ */ s(async (r, { body: e }) => (i++, await r.db.insert("messages", { body: e }), i), "handler")
}), w = n({
  args: { bodies: t.array(t.string()) },
  handler: /* @__PURE__ */ s(async (r, { bodies: e }) => await Promise.all(e.map((o) => r.db.insert("messages", { body: o }))), "handler")
}), b = n({
  args: {},
  handler: /* @__PURE__ */ s(async (r) => (r.db.insert("messages", { body: "not awaited" }), "returned"), "handler")
}), q = a({
  args: {},
  handler: /* @__PURE__ */ s(async () => ({ startedAt: l, luck: g, now: Date.now(), random: Math.random() }), "handler")
}), v = a({
  args: {},
  handler: /* @__PURE__ */ s(async () => {
    throw new d({ code: 1 });
  }, "handler")
}), M = a({
  args: {},
  handler: /* @__PURE__ */ s(async (r) => await r.runQuery(c.messages.list, {}), "handler")
}), k = a({
  args: { id: t.string() },
  handler: /* @__PURE__ */ s(async (r, { id: e }) => r.db.normalizeId("messages", e), "handler")
});
export {
  M as callee,
  q as constants,
  h as first,
  x as firstThree,
  b as forget,
  u as list,
  g as luck,
  k as normalize,
  v as refuse,
  f as send,
  w as sendMany,
  l as startedAt
};
//# sourceMappingURL=messages.js.map
