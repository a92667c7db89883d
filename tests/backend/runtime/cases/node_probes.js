// Secrets in the environment
return Object.keys(process.env).filter((name) => /HOME|USER|KEY|TOKEN|SSL|PYTHON/.test(name)).length;
//=> 0

// Reading other files
try {
  require("fs").readFileSync("/etc/hostname");
} catch (error) {
  return error.code;
}
//=> "ERR_ACCESS_DENIED"

// Writing elsewhere
try {
  require("fs").writeFileSync("/tmp/convex-escaped", "x");
} catch (error) {
  return error.code;
}
//=> "ERR_ACCESS_DENIED"

// Starting programs
try {
  require("child_process").execSync("true");
} catch (error) {
  return error.code;
}
//=> "ERR_ACCESS_DENIED"

// Starting threads
try {
  new (require("worker_threads").Worker)("1", { eval: true });
} catch (error) {
  return error.code;
}
//=> "ERR_ACCESS_DENIED"

// Reaching other hosts
try {
  await fetch("http://192.0.2.1/");
} catch (error) {
  return error.cause.message;
}
//=> "Network access to 192.0.2.1 is not allowed: functions may only reach this machine"

// Looking up names
return await new Promise((resolve) => require("dns").lookup("example.com", (error) => resolve(error.message)));
//=> "Network access to example.com is not allowed: functions may only reach this machine"
