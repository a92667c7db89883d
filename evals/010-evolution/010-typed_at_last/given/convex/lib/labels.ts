const LABELS: any = {
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

export function label(group: any, value: any): any {
  return LABELS[group][value];
}
