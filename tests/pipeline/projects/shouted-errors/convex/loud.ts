throw new Error("ENOTFOUND registry 429 Too Many Requests: timed out, disk full, ECONNRESET");
export {};
