export interface Part {
  first: number;
  last: number;
}

/** What a Range header asks for; null if it is to be ignored. */
export function parseRange(
  header: string | null,
  size: number,
): Part | "unsatisfiable" | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (match === null) {
    return null;
  }
  const [, from = "", to = ""] = match;
  if (from === "") {
    return to === "" ? null : lastBytes(Number(to), size);
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) {
    return null;
  }
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first < size ? { first, last } : "unsatisfiable";
}

function lastBytes(count: number, size: number): Part | "unsatisfiable" {
  if (count === 0 || size === 0) {
    return "unsatisfiable";
  }
  return { first: Math.max(size - count, 0), last: size - 1 };
}

/** Whether an If-None-Match header names this tag. */
export function namesTag(header: string | null, tag: string): boolean {
  const tags = (header ?? "").split(",").map((each) => each.trim());
  return tags.some((each) => each === "*" || each.replace(/^W\//, "") === tag);
}
