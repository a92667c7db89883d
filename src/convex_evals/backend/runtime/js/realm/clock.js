// `Date` that stands still: at deploy time while modules are imported, at the start of the execution in queries and
// mutations. Actions have the machine's, moved ahead as far as the deployment's clock is.
($) => {
  "use strict";
  const NativeDate = Date;
  const { now: realNow } = Date;
  const { construct, apply } = Reflect;
  let frozenAt = $.host.importTime;
  let ahead = 0;

  const now = () => {
    if ($.phase === "import") {
      if ($.host.isPure) throw new Error("Date unsupported when evaluating a configuration file");
      return frozenAt;
    }
    if (!$.transactional) return realNow() + ahead;
    $.host.clockWasRead();
    return frozenAt;
  };

  function FrozenDate(...args) {
    if (new.target === undefined) return new NativeDate(now()).toString();
    return construct(NativeDate, args.length === 0 ? [now()] : args, new.target);
  }
  Object.defineProperties(FrozenDate, {
    name: { value: "Date", configurable: true },
    length: { value: 7, configurable: true },
    prototype: { value: NativeDate.prototype, writable: false, enumerable: false, configurable: false },
    now: { value: { now: () => now() }.now, writable: true, configurable: true },
    parse: { value: NativeDate.parse, writable: true, configurable: true },
    UTC: { value: NativeDate.UTC, writable: true, configurable: true },
  });
  NativeDate.prototype.constructor = FrozenDate;
  Object.defineProperty(globalThis, "Date", {
    value: FrozenDate,
    writable: true,
    enumerable: false,
    configurable: true,
  });

  // Without an argument these would format the real time.
  const formats = Intl.DateTimeFormat.prototype;
  const boundFormat = Object.getOwnPropertyDescriptor(formats, "format").get;
  const { formatToParts } = formats;
  Object.defineProperty(formats, "format", {
    get() {
      const format = apply(boundFormat, this, []);
      return (date = now()) => format(date);
    },
    configurable: true,
  });
  formats.formatToParts = function (date = now()) {
    return apply(formatToParts, this, [date]);
  };

  return {
    now,
    set(nowMs, aheadMs) {
      frozenAt = Math.floor(nowMs);
      ahead = Math.floor(aheadMs);
    },
    /** Milliseconds since deploy time, in steps of 0.1. */
    sinceDeploy() {
      if ($.phase === "import") return 0;
      const current = $.phase === "query" ? now() : $.host.preciseNow();
      return Math.floor((current - $.host.importTime) * 10) / 10;
    },
  };
};
