// Makes the one port that this process can reach look like a network. Every connection is made to that port, whoever it is
// meant for; Python is told, and answers whether it may be used as if it led there. Nothing here keeps anybody from
// anything: the kernel lets this process reach nothing else, and Python passes nothing on that it was not asked for.
import dns from "node:dns";
import net from "node:net";

const GATEWAY = "127.0.0.1";
const LOCALHOST = /^(.*\.)?localhost\.?$/i;
const LOOPBACK = /^(127(\.\d+){3}|::1|\[::1\]|::ffff:127(\.\d+){3})$/i;
const ALLOWED = { none: "functions may not use the network here", loopback: "functions may only reach this machine" };

export class Network {
  #send;
  #mode;
  #waiting = new Map(); // seq → what to do with Python's answer
  #lastSeq = 0;

  /** `mode` is "none", "loopback" or "internet". To be made before any user code runs. */
  constructor(send, mode) {
    this.#send = send;
    this.#mode = mode;
    this.#refuseEarly();
    this.#lookUp();
  }

  /** From now on connections are made to this port. */
  open({ port: gateway }) {
    const tcp = tcpPrototype();
    const { connect, getsockname } = tcp;
    const network = this;
    tcp.connect = tcp.connect6 = function (request, address, port) {
      const { oncomplete } = request;
      request.oncomplete = (status, ...rest) => {
        const finish = (outcome) => oncomplete.call(request, outcome, ...rest);
        if (status !== 0) return finish(status);
        const here = {};
        getsockname.call(this, here);
        return network.#ask({ op: "connect", from: here.port ?? 0, host: address, port }, ({ error }) => finish(-error));
      };
      return connect.call(this, request, GATEWAY, gateway);
    };
  }

  answer({ seq, ...answer }) {
    this.#waiting.get(seq)?.(answer);
    this.#waiting.delete(seq);
  }

  #ask(question, settle) {
    const seq = ++this.#lastSeq;
    this.#waiting.set(seq, settle);
    this.#send({ ...question, seq });
  }

  /** For the words of the refusal. */
  #refuseEarly() {
    const { connect } = net.Socket.prototype;
    const network = this;
    net.Socket.prototype.connect = function (...args) {
      const host = hostOf(args);
      if (host === undefined || !network.#isRefused(host)) return connect.apply(this, args);
      process.nextTick(() => this.destroy(network.#refusal(host)));
      return this;
    };
  }

  #isRefused(host) {
    if (this.#mode === "internet") return false;
    return this.#mode === "none" || !(LOCALHOST.test(host) || LOOPBACK.test(host));
  }

  #refusal(host) {
    return new Error(`Network access to ${host} is not allowed: ${ALLOWED[this.#mode]}`);
  }

  #lookUp() {
    const { lookup } = dns;
    dns.lookup = (name, ...rest) => {
      const callback = rest.pop();
      const options = typeof rest[0] === "object" ? (rest[0] ?? {}) : { family: rest[0] };
      if (net.isIP(name)) return lookup(name, options, callback);
      if (LOCALHOST.test(name)) return process.nextTick(() => answerLookup(name, [GATEWAY, "::1"], options, callback));
      if (this.#isRefused(name)) return process.nextTick(() => callback(this.#refusal(name)));
      return this.#ask({ op: "find", name: String(name) }, ({ found }) => answerLookup(name, found ?? [], options, callback));
    };
  }
}

function hostOf(args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) return first.path ? undefined : (first.host ?? "localhost");
  return typeof second === "string" ? second : "localhost";
}

function answerLookup(name, addresses, { all = false, family = 0 }, callback) {
  const wanted = { IPv4: 4, IPv6: 6 }[family] ?? family;
  const found = addresses
    .map((address) => ({ address, family: net.isIP(address) }))
    .filter((entry) => !wanted || entry.family === wanted);
  if (found.length > 0) return all ? callback(null, found) : callback(null, found[0].address, found[0].family);
  const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
  return callback(Object.assign(error, { errno: -3008, code: "ENOTFOUND", syscall: "getaddrinfo", hostname: name }));
}

/** Node has no public name for it; a socket that is about to connect has one. */
function tcpPrototype() {
  const probe = new net.Socket();
  probe.on("error", () => {});
  probe.connect(1, GATEWAY);
  const prototype = Object.getPrototypeOf(probe._handle);
  probe.destroy();
  return prototype;
}
