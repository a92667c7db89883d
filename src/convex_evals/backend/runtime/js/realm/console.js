// `console`: each argument is rendered on its own; there is no %s substitution.
($) => {
  "use strict";
  const timers = new Map();
  const render = (values) => {
    const { inspect } = $.use("inspect");
    const texts = [];
    for (let i = 0; i < values.length; i++) texts[i] = inspect(values[i]);
    return texts;
  };
  const write = (level, values) => $.host.log(level, JSON.stringify(render(values)));
  const writeText = (level, text, values = []) => $.host.log(level, JSON.stringify([text, ...render(values)]));

  const elapsed = (label) => {
    if (timers.has(label)) return `${label}: ${Math.round($.use("clock").sinceDeploy() - timers.get(label))}ms`;
    writeText("WARN", `Timer '${label}' does not exist`);
    return undefined;
  };

  return {
    console: {
      log: (...values) => write("LOG", values),
      info: (...values) => write("INFO", values),
      warn: (...values) => write("WARN", values),
      error: (...values) => write("ERROR", values),
      debug: (...values) => write("DEBUG", values),
      trace(...values) {
        const frames = $.use("errors").frames(new Error());
        $.host.log("LOG", JSON.stringify([...render(values), frames.join("\n")]));
      },
      time(label = "default") {
        const name = String(label);
        if (timers.has(name)) writeText("WARN", `Timer '${name}' already exists`);
        else timers.set(name, $.use("clock").sinceDeploy());
      },
      timeLog(label = "default", ...values) {
        const text = elapsed(String(label));
        if (text !== undefined) writeText("INFO", text, values);
      },
      timeEnd(label = "default") {
        const name = String(label);
        const text = elapsed(name);
        if (text !== undefined) writeText("INFO", text);
        timers.delete(name);
      },
    },
  };
};
