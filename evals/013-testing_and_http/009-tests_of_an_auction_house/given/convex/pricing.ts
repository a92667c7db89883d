type Bid = { member: string; maxCents: number };
type Terms = { startCents: number; stepCents: number; reserveCents?: number };

export function isAmount(cents: number) {
  return Number.isInteger(cents) && cents > 0;
}

/** The last bid of each member, which is their highest: the highest first; of equal ones, the earliest first. */
export function ranking(bids: Bid[]) {
  const last = new Map<string, Bid>();
  for (const bid of bids) {
    last.delete(bid.member);
    last.set(bid.member, bid);
  }
  return [...last.values()].sort((a, b) => b.maxCents - a.maxCents);
}

/** Who leads, at which price, and whether the reserve is met, after these bids. */
export function standing({ startCents, stepCents, reserveCents = 0 }: Terms, bids: Bid[]) {
  const ranked = ranking(bids);
  const [first, second] = [ranked.at(0), ranked.at(1)];
  if (first === undefined) return { leader: null, maxCents: 0, priceCents: startCents, reserveMet: false };
  const { member: leader, maxCents } = first;
  const priceCents = second === undefined ? startCents : Math.min(second.maxCents + stepCents, maxCents);
  if (maxCents < reserveCents) return { leader, maxCents, priceCents, reserveMet: false };
  return { leader, maxCents, priceCents: Math.max(priceCents, reserveCents), reserveMet: true };
}
