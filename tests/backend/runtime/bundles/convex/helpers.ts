export function fail(text: string): never {
  throw new Error(text);
}

export class Thing {
  constructor(readonly size: number) {
    if (size < 0) throw new RangeError(`bad size ${size}`);
  }

  grow(by: number) {
    return new Thing(this.size + by);
  }
}
