import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { currentUser, newToken, signIn, signOut, storedToken } from "./session";

/** Each sign-in is a session of its own, also that of the same user. */
type State = { phase: "loading" } | { phase: "in" } | { phase: "out"; hasEnded: boolean };

interface Session {
  state: State;
  isCurrent: (state: State) => boolean;
  signIn: (user: string) => Promise<void>;
  signOut: () => Promise<void>;
  end: () => void;
}

const RETRY_MS = 1000;
const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>({ phase: "loading" });
  const latest = useRef(state);
  const change = useCallback((next: State) => {
    latest.current = next;
    setState(next);
  }, []);
  useEffect(() => {
    const beginning = latest.current;
    void currentUser().then((user) => {
      if (latest.current === beginning) change(user === null ? { phase: "out", hasEnded: false } : { phase: "in" });
    });
  }, [change]);
  const session = useMemo<Session>(
    () => ({
      state,
      isCurrent: (other) => latest.current === other,
      signIn: async (user) => {
        change({ phase: "loading" });
        await signIn(user);
        change({ phase: "in" });
      },
      signOut: async () => {
        change({ phase: "out", hasEnded: false });
        await signOut();
      },
      end: () => change({ phase: "out", hasEnded: true }),
    }),
    [state, change],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("There is no SessionProvider.");
  return session;
}

/** What ConvexProviderWithAuth needs. A token is fetched for the session that it is meant for, or not at all. */
export function useSessionAuth() {
  const { state, isCurrent } = useSession();
  const fetchAccessToken = useCallback(
    async ({ forceRefreshToken }: { forceRefreshToken: boolean }) => {
      const stored = storedToken();
      if (!forceRefreshToken && stored !== null) return stored;
      while (isCurrent(state)) {
        try {
          return await newToken();
        } catch {
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
      }
      return null;
    },
    // isCurrent always does the same
    [state],
  );
  return { isLoading: state.phase === "loading", isAuthenticated: state.phase === "in", fetchAccessToken };
}
