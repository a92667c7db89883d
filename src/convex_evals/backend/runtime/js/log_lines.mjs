// What is written to the console, as it is sent to Python.

const LOG_LINE_BYTES = 32768;

/** A log line cut to the bytes it may have. */
export function logLine(level, messages) {
  let left = LOG_LINE_BYTES;
  const kept = [];
  for (const message of messages) {
    const bytes = Buffer.from(message);
    if (bytes.length > left) {
      kept.push(cutUtf8(bytes, left));
      return { level, messages: kept, timestamp: Date.now(), isTruncated: true };
    }
    kept.push(message);
    left -= bytes.length;
  }
  return { level, messages: kept, timestamp: Date.now(), isTruncated: false };
}

/** At most `limit` bytes, ending at a character. */
export function cutUtf8(bytes, limit) {
  let end = Math.min(limit, bytes.length);
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8");
}
