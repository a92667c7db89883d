/** Calls the case of the phase that the state is in. */
export function match(state: any, cases: any): any {
  return cases[state.phase](state);
}
