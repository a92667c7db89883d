// Timers, for actions. Elsewhere the id is given, and the refusal surfaces as an unhandled rejection.
($) => {
  "use strict";
  const callbacks = new Map();
  let lastId = 0;

  const schedule = (name, callback, delay, args, repeat) => {
    if (typeof callback !== "function") throw new TypeError(`${name}: the handler must be a function`);
    const id = ++lastId;
    try {
      $.requireAction(name);
    } catch (error) {
      Promise.reject(error);
      return id;
    }
    const milliseconds = Math.max(Number(delay) || 0, 0);
    callbacks.set(id, { callback, args, milliseconds, repeat });
    $.host.startTimer(id, milliseconds);
    return id;
  };

  const clear = (id) => {
    if (callbacks.delete(Number(id))) $.host.stopTimer(Number(id));
  };

  return {
    setTimeout: (callback, delay = 0, ...args) => schedule("setTimeout", callback, delay, args, false),
    setInterval: (callback, delay = 0, ...args) => schedule("setInterval", callback, delay, args, true),
    clearTimeout: (id = undefined) => clear(id),
    clearInterval: (id = undefined) => clear(id),
    fire(id) {
      const timer = callbacks.get(id);
      if (timer === undefined) return;
      if (timer.repeat) $.host.startTimer(id, timer.milliseconds);
      else callbacks.delete(id);
      timer.callback.apply(globalThis, timer.args);
    },
  };
};
