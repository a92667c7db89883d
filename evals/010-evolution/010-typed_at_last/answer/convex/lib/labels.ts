import type { Family, Phase, Priority } from "../contract";
import type { Fitting } from "./util";

type Values = { family: Family; phase: Phase; priority: Priority };

const LABELS: { [Group in keyof Values]: Record<Values[Group], string> } = {
  family: { strings: "String instrument", wind: "Wind instrument", keys: "Keyboard" },
  phase: {
    waiting: "waiting",
    quoted: "quoted",
    working: "on the bench",
    done: "done",
    declined: "declined",
  },
  priority: { normal: "", urgent: "URGENT" },
};

export function label<Group extends keyof Values>(group: Group, value: Fitting<Values, NoInfer<Group>>): string {
  const labels: Record<Values[Group], string> = LABELS[group];
  return labels[value];
}
