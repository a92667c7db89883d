import { Authenticated, AuthLoading, Unauthenticated, useQuery } from "convex/react";
import { api } from "../convex/_generated/api";
import { Composer } from "./Composer";
import { Messages } from "./Messages";
import { useSession } from "./session";

export function App() {
  const count = useQuery(api.messages.count);
  return (
    <main>
      <header>
        <h1>Guestbook</h1>
        <span role="status" aria-label="Number of messages">
          {count === undefined ? "counting" : `Messages: ${count}`}
        </span>
      </header>
      <Account />
      <Composer />
      <Messages />
    </main>
  );
}

function Account() {
  const { signIn, signOut } = useSession();
  return (
    <section aria-label="Account">
      <AuthLoading>Signing in</AuthLoading>
      <Unauthenticated>
        <Greeting />
        {["Ada", "Grace", "Mallory"].map((user) => (
          <button key={user} onClick={() => signIn(user)}>
            Sign in as {user}
          </button>
        ))}
      </Unauthenticated>
      <Authenticated>
        <Greeting />
        <button onClick={signOut}>Sign out</button>
      </Authenticated>
    </section>
  );
}

function Greeting() {
  const me = useQuery(api.users.me);
  if (me === undefined) return <p>Asking who you are</p>;
  return <p>{me === null ? "You are a visitor" : `You are ${me.name}; messages written: ${me.messages}`}</p>;
}
