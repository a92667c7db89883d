// oxlint without its command, whose modules take longer to load than most answers take to lint. It has no plugins and no
// configuration in JavaScript, so nothing calls back but the two that open and close a workspace.
//
//   node oxlint.cjs BINDING OPTION...

const [binding, ...options] = process.argv.slice(2);
const { lint } = require(binding);
const unexpected = () => Promise.reject(new Error("oxlint asked for JavaScript that there is none of"));

lint(options, unexpected, unexpected, unexpected, () => Promise.resolve(), () => undefined, unexpected).then(
  (passed) => process.reallyExit(passed ? 0 : 1), // everything is printed, and nothing is left to tidy up
  (error) => {
    console.error(error);
    process.reallyExit(2);
  },
);
