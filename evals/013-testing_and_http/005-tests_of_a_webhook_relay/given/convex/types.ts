const TYPE = /^[a-z]+(\.[a-z]+)*$/;

/** Such as `order.paid`. */
export function isType(text: string) {
  return TYPE.test(text);
}

/** A type; or a type followed by `.*`, for all types that begin with it and a dot; or `*`, for all. */
export function isPattern(text: string) {
  return text === "*" || isType(text.endsWith(".*") ? text.slice(0, -2) : text);
}

export function matches(pattern: string, type: string) {
  if (pattern === "*") return true;
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
