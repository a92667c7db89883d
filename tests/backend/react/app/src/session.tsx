import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";

interface Session {
  user: string | null;
  signIn: (user: string) => void;
  signOut: () => void;
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [user, setUser] = useState<string | null>(null);
  const session = useMemo(() => ({ user, signIn: setUser, signOut: () => setUser(null) }), [user]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("useSession needs a SessionProvider around it.");
  return session;
}

/** What ConvexProviderWithAuth asks for: tokens come from the server that serves the page. */
export function useSessionAuth() {
  const { user } = useSession();
  const fetchAccessToken = useCallback(async () => {
    if (user === null) return null;
    const response = await fetch(`/token?user=${encodeURIComponent(user)}`);
    return response.ok ? await response.text() : null;
  }, [user]);
  return useMemo(
    () => ({ isLoading: false, isAuthenticated: user !== null, fetchAccessToken }),
    [user, fetchAccessToken],
  );
}
