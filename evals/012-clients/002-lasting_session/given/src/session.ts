/**
 * The sign-in service of the company. It is on the page's own site and recognizes the browser by a cookie. It knows
 * nothing of React or of Convex.
 */

const STORED = "token";

async function call(path: string, body?: unknown): Promise<Response> {
  return await fetch(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
}

/** The name of the user who is signed in, or null if nobody is. It never fails. */
export async function currentUser(): Promise<string | null> {
  const { user } = (await (await call("/session")).json()) as { user: string | null };
  return user;
}

/** The last token of this user, or null. It may have expired or have been revoked. */
export function storedToken(): string | null {
  return localStorage.getItem(STORED);
}

/**
 * A new token for the user who is signed in, which is then the stored one. Null if the service has ended the session.
 * Fails while the service cannot be reached, which says nothing about the session. Each new token costs money.
 */
export async function newToken(): Promise<string | null> {
  const response = await call("/token", {});
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`The sign-in service cannot be reached: ${response.status}`);
  const token = await response.text();
  localStorage.setItem(STORED, token);
  return token;
}

/** Signs in a user, in place of the one who is signed in, if any. It never fails. */
export async function signIn(user: string): Promise<void> {
  await call("/sign-in", { user });
  localStorage.removeItem(STORED);
}

/** Ends the session. It never fails. */
export async function signOut(): Promise<void> {
  localStorage.removeItem(STORED);
  await call("/sign-out", {});
}
