const SECRET_BYTES = 32;

export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `sk_${toHex(bytes)}`;
}

export async function hashOf(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

export function hintOf(secret: string): string {
  return secret.slice(-4);
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
