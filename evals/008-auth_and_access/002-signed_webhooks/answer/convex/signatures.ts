const TOLERANCE_SECONDS = 300;

/** What an X-Signature header says, or null if it does not say it well. */
export function parseSignatures(header: string | null) {
  const parts = (header ?? "").split(",");
  const times = valuesOf(parts, "t=");
  const signatures = valuesOf(parts, "v1=").filter((text) =>
    /^[0-9a-f]{64}$/.test(text),
  );
  const [time] = times;
  if (time === undefined || times.length !== 1 || !/^[0-9]+$/.test(time)) {
    return null;
  }
  return { time, signatures };
}

function valuesOf(parts: string[], prefix: string): string[] {
  return parts
    .filter((part) => part.startsWith(prefix))
    .map((part) => part.slice(prefix.length));
}

export function isRecent(time: string): boolean {
  return Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS;
}

/** Whether one of the signatures was made with one of the secrets. */
export async function isSigned(
  { time, signatures }: { time: string; signatures: string[] },
  body: ArrayBuffer,
  secrets: string[],
): Promise<boolean> {
  const encoder = new TextEncoder();
  const signed = await new Blob([`${time}.`, body]).arrayBuffer();
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey(
      "raw",
      encoder.encode(secret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["verify"],
    );
    for (const signature of signatures) {
      const bytes = fromHex(signature);
      if (await crypto.subtle.verify("HMAC", key, bytes, signed)) {
        return true;
      }
    }
  }
  return false;
}

function fromHex(text: string) {
  const pairs = text.match(/../g) ?? [];
  return new Uint8Array(pairs.map((pair) => parseInt(pair, 16)));
}
