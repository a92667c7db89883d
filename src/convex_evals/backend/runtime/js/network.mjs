// Keeps connections on this machine. Every TCP connection of Node goes through Socket.connect, redirects included.
import dgram from "node:dgram";
import dns from "node:dns";
import net from "node:net";

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|::1|\[::1\]|::ffff:127(\.\d+){3})$/i;

function refuse(host) {
  return new Error(`Network access to ${host} is not allowed: functions may only reach this machine`);
}

function hostOf(args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) return first.path ? undefined : (first.host ?? "localhost");
  return typeof second === "string" ? second : "localhost";
}

/** To be called before any user code runs. */
export function allowOnlyLoopback() {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    const host = hostOf(args);
    if (host === undefined || LOOPBACK.test(host)) return connect.apply(this, args);
    process.nextTick(() => this.destroy(refuse(host)));
    return this;
  };
  const { lookup } = dns;
  dns.lookup = (host, ...rest) => {
    const callback = rest.at(-1);
    if (LOOPBACK.test(host)) return lookup(host, ...rest);
    return process.nextTick(() => callback(refuse(host)));
  };
  dgram.Socket.prototype.send = function () {
    throw refuse("other hosts over UDP");
  };
}
