// Runs in every page before its own scripts: lets a grader see the page as it is before the deployment has answered.
(() => {
  const kept = [];
  let held = HELD;

  window.WebSocket = class extends window.WebSocket {
    constructor(...args) {
      super(...args);
      // The first listener of all, so that nobody else hears of what is kept.
      this.addEventListener("message", (event) => {
        if (held) {
          event.stopImmediatePropagation();
          kept.push(() => this.dispatchEvent(new MessageEvent("message", { data: event.data })));
        }
      });
    }
  };

  window.holdMessages = (hold) => {
    held = hold;
    if (!hold) kept.splice(0).forEach((deliver) => deliver());
  };
})();
