export const fields = {
  title: { type: "text", required: true },
  notes: { type: "text", required: false },
  points: { type: "number", required: false },
  status: { type: "choice", required: true, options: ["open", "active", "blocked", "done"] },
  severity: { type: "choice", required: false, options: ["minor", "major", "critical"] },
  assignee: { type: "user", required: false },
  due: { type: "date", required: false },
  labels: { type: "labels" },
} as const;
