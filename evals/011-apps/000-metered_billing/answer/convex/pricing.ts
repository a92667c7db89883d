import type { Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import type { plan as planValidator, statement } from "./schema";

type Usage = Doc<"usage">;
type Credit = Doc<"credits">;
export type Plan = Infer<typeof planValidator>;
export type Statement = Infer<typeof statement>;

/** Everything that is billed to one customer, worked out from the facts. */
export type Account = {
  months: Map<string, Statement>;
  credits: { key: string; units: number; left: number }[];
};

export function priceAll(
  usage: Usage[],
  credits: Credit[],
  plans: Plan[],
): Account {
  const months = new Map<string, Statement>();
  const inTurn = [...credits].sort(
    (a, b) => a.until - b.until || byKey(a.key, b.key),
  );
  const left = inTurn.map(({ units }) => units);
  const ordered = [...usage].sort((a, b) => a.at - b.at || byKey(a.key, b.key));
  for (const { units, at } of ordered) {
    const month = monthOf(at);
    const sums = months.get(month) ?? emptyStatement(month);
    let rest = units;
    inTurn.forEach(({ from, until }, index) => {
      if (from <= at && at < until) {
        const taken = Math.min(rest, left[index]);
        left[index] -= taken;
        rest -= taken;
      }
    });
    const plan = planAt(plans, at);
    const included = Math.min(
      rest,
      Math.max(0, (plan?.includedUnits ?? 0) - sums.includedUnits),
    );
    const billed = rest - included;
    months.set(month, {
      ...sums,
      units: sums.units + units,
      creditUnits: sums.creditUnits + units - rest,
      includedUnits: sums.includedUnits + included,
      billedUnits: sums.billedUnits + billed,
      amount: sums.amount + billed * (plan?.unitPrice ?? 0),
    });
  }
  return {
    months,
    credits: inTurn.map(({ key, units }, index) => ({
      key,
      units,
      left: left[index],
    })),
  };
}

export function emptyStatement(month: string): Statement {
  return {
    month,
    units: 0,
    creditUnits: 0,
    includedUnits: 0,
    billedUnits: 0,
    amount: 0,
    closed: false,
  };
}

function planAt(plans: Plan[], at: number): Plan | undefined {
  return plans
    .filter(({ effectiveAt }) => effectiveAt <= at)
    .sort((a, b) => b.effectiveAt - a.effectiveAt || b.version - a.version)[0];
}

function byKey(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}
