// An interval until it is cleared
return await new Promise((resolve) => {
  let count = 0;
  const id = setInterval(() => {
    if (++count < 3) return;
    clearInterval(id);
    resolve(count);
  }, 1);
});
//=> 3

// A timer that is cleared in time; ids begin with 1
const id = setTimeout(() => {
  throw new Error("late");
}, 5);
clearTimeout(id);
await new Promise((resolve) => setTimeout(resolve, 20));
return id;
//=> 1

// Arguments are passed on
return await new Promise((resolve) => setTimeout((a, b) => resolve(a + b), 1, 2, 3));
//=> 5

// A signal that aborts by itself
const signal = AbortSignal.timeout(5);
await new Promise((resolve) => signal.addEventListener("abort", resolve));
return signal.reason.name;
//=> "TimeoutError"
