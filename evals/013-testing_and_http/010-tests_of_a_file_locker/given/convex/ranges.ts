/** Whether `If-None-Match` names this content, or any. */
export function isKnown(ifNoneMatch: string | null, hash: string) {
  if (ifNoneMatch === null) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(`"${hash}"`);
}

/** The bytes that `Range` asks for: a part, all of them (also if it makes no sense), or none that exist. */
export function parseRange(range: string | null, size: number) {
  const digits = /^bytes=(\d*)-(\d*)$/.exec(range ?? "");
  if (digits === null) return "all";
  const [, from, to] = digits;
  if (from === "" && to === "") return "all";
  if (from === "") {
    const first = Math.max(size - Number(to), 0);
    return first < size ? { first, last: size - 1 } : "none";
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return "all";
  if (first >= size) return "none";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
