import { v } from "convex/values";
import { query } from "./_generated/server";
import { type AnswerOf, defineForm, type ResultOf } from "./lib/forms";

/** A form that is written in code. */
export const order = defineForm([
  { key: "customer", kind: "text", required: true, maxLength: 20 },
  { key: "delivery", kind: "choice", required: true, options: ["pickup", "courier"] },
  { key: "street", kind: "text", required: true, showIf: { field: "delivery", is: "courier" } },
  { key: "extras", kind: "choices", required: false, options: ["gift", "insured", "cold"] },
  { key: "value", kind: "number", required: true, min: 1, showIf: { field: "extras", includes: "insured" } },
  {
    key: "items",
    kind: "group",
    min: 1,
    max: 3,
    fields: [
      { key: "name", kind: "text", required: false },
      { key: "price", kind: "number", required: true, min: 0, max: 1000 },
      { key: "count", kind: "number", required: false, min: 1 },
      { key: "cost", kind: "computed", formula: { op: "*", left: { field: "price" }, right: { field: "count" } } },
      { key: "wish", kind: "date", required: false, showIf: { field: "cost", atLeast: 100 } },
    ],
  },
  { key: "fee", kind: "computed", formula: { op: "/", left: { field: "value" }, right: 100 }, showIf: { field: "extras", includes: "insured" } },
  { key: "total", kind: "computed", formula: { sum: "items.cost" } },
  { key: "gross", kind: "computed", formula: { op: "+", left: { field: "total" }, right: { field: "fee" } } },
]);

type Order = AnswerOf<typeof order.fields>;

const delivery: { [way in Order["delivery"]]: string } = { pickup: "will be fetched", courier: "will be brought" };

function lineOf(result: ResultOf<typeof order.fields>): string {
  const most = Math.max(...result.items.map((item) => item.cost ?? 0));
  return `${result.customer}: ${result.items.length} items, ${most} at most, ${result.total ?? "no"} in total`;
}

export const check = query({
  args: { draft: v.any() },
  handler: (_, { draft }) => order.check(draft),
});

export const confirm = query({
  args: { draft: v.any() },
  handler: (_, { draft }) => {
    const checked = order.check(draft);
    if (!checked.ok) return null;
    const result = order.result(checked.answer);
    const firstPrice = order.get(checked.answer, "items[0].price")?.toFixed(2) ?? "none";
    return { line: lineOf(result), delivery: delivery[result.delivery], result, firstPrice, street: order.get(checked.answer, "street") ?? "" };
  },
});
