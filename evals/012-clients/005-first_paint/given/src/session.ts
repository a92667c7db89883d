/**
 * The token of the visitor, from the web server of the club, which recognizes the browser by a cookie. Null if nobody is
 * signed in. It may take its time.
 */
export async function fetchToken(): Promise<string | null> {
  const response = await fetch("/token");
  return response.status === 401 ? null : await response.text();
}
