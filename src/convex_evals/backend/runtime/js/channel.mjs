// Frames to and from Python. See docs/runtime-protocol.md.
//
// One socket carries frames both ways without blocking; a second one is used for questions this process cannot go on
// without (`ask`): it writes, then blocks until the answer is there.
import net from "node:net";

const fs = process.getBuiltinModule("node:fs"); // `import` would load every part of it
const { parse, stringify } = JSON; // Node.js actions may replace them
const JSON_FRAME = 0;
const BYTES_FRAME = 1;
const HEADER = 5; // u32 payload length, u8 kind
const CHANNEL = 4; // u32, first in the payload of a bytes frame

function frame(kind, ...parts) {
  const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const header = Buffer.allocUnsafe(HEADER);
  header.writeUInt32BE(length, 0);
  header.writeUInt8(kind, 4);
  return Buffer.concat([header, ...parts], HEADER + length);
}

/** Without halves of characters, which JSON can write and Python's parser refuses: `"\\ud800"`. */
function wellFormed(json) {
  if (!json.includes("\\ud")) return json;
  return stringify(parse(json, (_, value) => (typeof value === "string" ? value.toWellFormed() : value)));
}

export class FrameParser {
  #chunks = []; // of a frame that is not complete; joined once it is, for a frame may have hundreds
  #length = 0;
  #wanted = HEADER;

  constructor(onJson, onBytes) {
    this.onJson = onJson;
    this.onBytes = onBytes;
  }

  push(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return;
    let data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length);
    this.#wanted = HEADER;
    while (data.length >= HEADER) {
      const end = HEADER + data.readUInt32BE(0);
      if (data.length < end) {
        this.#wanted = end;
        break;
      }
      this.#dispatch(data.readUInt8(4), data.subarray(HEADER, end));
      data = data.subarray(end);
    }
    this.#chunks = data.length === 0 ? [] : [data];
    this.#length = data.length;
  }

  #dispatch(kind, payload) {
    if (kind === BYTES_FRAME) this.onBytes(payload.readUInt32BE(0), payload.subarray(CHANNEL));
    else this.onJson(parse(payload.toString("utf8")));
  }
}

export class Channel {
  #socket;
  #questionFd;

  /** The file descriptors come from the command line: frames first, then questions. */
  constructor([frameFd, questionFd], { onJson, onBytes = () => {} }) {
    this.#questionFd = questionFd;
    this.#socket = new net.Socket({ fd: frameFd, readable: true, writable: true });
    const parser = new FrameParser(onJson, onBytes);
    this.#socket.on("data", (chunk) => parser.push(chunk));
    this.#socket.on("close", () => process.exit(0));
    this.#socket.on("error", () => process.exit(0));
  }

  send(message) {
    this.#socket.write(frame(JSON_FRAME, Buffer.from(wellFormed(stringify(message)))));
  }

  /** The last thing this process does: it exits when everything is sent. */
  end() {
    this.#socket.end();
  }

  sendBytes(channel, bytes) {
    const id = Buffer.allocUnsafe(CHANNEL);
    id.writeUInt32BE(channel, 0);
    this.#socket.write(frame(BYTES_FRAME, id, bytes));
  }

  /** Blocks until Python has answered. */
  ask(question) {
    const bytes = frame(JSON_FRAME, Buffer.from(wellFormed(stringify(question))));
    for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(this.#questionFd, bytes, sent);
    const header = this.#readExactly(HEADER);
    return parse(this.#readExactly(header.readUInt32BE(0)).toString("utf8"));
  }

  #readExactly(length) {
    const bytes = Buffer.allocUnsafe(length);
    for (let read = 0; read < length; ) {
      const count = fs.readSync(this.#questionFd, bytes, read, length - read, null);
      if (count === 0) process.exit(0);
      read += count;
    }
    return bytes;
  }
}

export function channelFds() {
  return process.argv.slice(2, 4).map(Number);
}
