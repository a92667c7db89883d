/**
 * Amounts are whole cents. Where an amount belongs to several units, no cent may be lost or made up: the first `units` of
 * `all` units together are worth this much, so a part is always the difference of two such values.
 */
export function upTo(amount: number, units: number, all: number): number {
  return Math.floor((amount * units) / all);
}

/** Distributes a total over weights, such that the parts add up to it. */
export function distribute(total: number, weights: number[]): number[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return weights.map((weight) => {
    const part = upTo(total, before + weight, all) - upTo(total, before, all);
    before += weight;
    return part;
  });
}

/** The tax that is included in an amount. */
export function includedTax(amount: number, percent: number): number {
  return Math.round((amount * percent) / (100 + percent));
}
