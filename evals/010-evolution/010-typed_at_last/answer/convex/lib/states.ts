import type { Phase, State } from "../contract";

type Case<P extends Phase, Result> = (state: Extract<State, { phase: P }>) => Result;

/** Calls the case of the phase that the state is in. */
export function match<Waiting, Quoted, Working, Done, Declined>(
  state: State,
  cases: {
    waiting: Case<"waiting", Waiting>;
    quoted: Case<"quoted", Quoted>;
    working: Case<"working", Working>;
    done: Case<"done", Done>;
    declined: Case<"declined", Declined>;
  },
): Waiting | Quoted | Working | Done | Declined {
  switch (state.phase) {
    case "waiting":
      return cases.waiting(state);
    case "quoted":
      return cases.quoted(state);
    case "working":
      return cases.working(state);
    case "done":
      return cases.done(state);
    case "declined":
      return cases.declined(state);
  }
}
