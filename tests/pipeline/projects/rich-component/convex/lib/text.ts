export function shorten(text: string): string {
  return text.length > 20 ? `${text.slice(0, 19)}…` : text;
}
