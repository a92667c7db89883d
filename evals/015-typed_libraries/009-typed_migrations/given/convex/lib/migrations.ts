// A placeholder with which the project can be deployed, and nothing more.

class Chain {
  map(..._rest: unknown[]) {
    return this;
  }
  set(..._rest: unknown[]) {
    return this;
  }
  rename(..._rest: unknown[]) {
    return this;
  }
  drop(..._rest: unknown[]) {
    return this;
  }
  only(..._rest: unknown[]) {
    return this;
  }
}

export function startFrom(..._rest: unknown[]) {
  return new Chain();
}

export function defineMigrations(_chains: Record<string, Chain>) {
  return {};
}
