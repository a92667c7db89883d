// Seeded randomness: a ChaCha12 key stream behind `Math.random` and `crypto.getRandomValues`. The same seed gives the
// same numbers, which is what lets a query be computed again.
($) => {
  "use strict";
  const ROUNDS = 12;
  const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
  const state = new Uint32Array(16);
  const block = new Uint32Array(16);
  const blockBytes = new Uint8Array(block.buffer);
  let used = 64;

  const quarterRound = (x, a, b, c, d) => {
    x[a] += x[b];
    x[d] ^= x[a];
    x[d] = (x[d] << 16) | (x[d] >>> 16);
    x[c] += x[d];
    x[b] ^= x[c];
    x[b] = (x[b] << 12) | (x[b] >>> 20);
    x[a] += x[b];
    x[d] ^= x[a];
    x[d] = (x[d] << 8) | (x[d] >>> 24);
    x[c] += x[d];
    x[b] ^= x[c];
    x[b] = (x[b] << 7) | (x[b] >>> 25);
  };

  const nextBlock = () => {
    for (let i = 0; i < 16; i++) block[i] = state[i];
    for (let round = 0; round < ROUNDS; round += 2) {
      quarterRound(block, 0, 4, 8, 12);
      quarterRound(block, 1, 5, 9, 13);
      quarterRound(block, 2, 6, 10, 14);
      quarterRound(block, 3, 7, 11, 15);
      quarterRound(block, 0, 5, 10, 15);
      quarterRound(block, 1, 6, 11, 12);
      quarterRound(block, 2, 7, 8, 13);
      quarterRound(block, 3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) block[i] += state[i];
    if (++state[12] === 0) state[13]++;
    used = 0;
  };

  const nextByte = () => {
    if (used === 64) nextBlock();
    return blockBytes[used++];
  };

  const nextWord = () => {
    used = (used + 3) & ~3;
    if (used >= 64) nextBlock();
    const word = block[used >> 2];
    used += 4;
    return word;
  };

  Object.defineProperty(Math, "random", {
    value: {
      random() {
        if ($.phase === "import" && $.host.isPure)
          throw new Error("Math.random unsupported when evaluating a configuration file");
        return ((nextWord() >>> 5) * 67108864 + (nextWord() >>> 6)) / 9007199254740992;
      },
    }.random,
    writable: true,
    enumerable: false,
    configurable: true,
  });

  const seed = (hex) => {
    for (let i = 0; i < 4; i++) state[i] = CONSTANTS[i];
    for (let i = 0; i < 8; i++) state[4 + i] = parseInt(hex.slice(i * 8, i * 8 + 8), 16);
    for (let i = 12; i < 16; i++) state[i] = 0;
    used = 64;
  };

  return {
    seed,
    fill(bytes) {
      for (let i = 0; i < bytes.length; i++) bytes[i] = nextByte();
    },
  };
};
