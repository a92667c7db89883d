import { AuthLoading, Authenticated, AuthRefreshing, Unauthenticated, useConvexAuth, useMutation, useQuery } from "convex/react";
import { type FormEvent, useEffect, useState } from "react";
import { api } from "../convex/_generated/api";
import { useSession } from "./useSession";

export default function App() {
  const count = useQuery(api.notes.count);
  return (
    <>
      <main>
        <AuthLoading>Loading…</AuthLoading>
        <Unauthenticated>
          <SignedOut />
        </Unauthenticated>
        <Authenticated>
          <Notes />
        </Authenticated>
        <AuthRefreshing>
          <p role="status">Renewing your session…</p>
        </AuthRefreshing>
      </main>
      {count !== undefined && <footer>{`${count} notes so far`}</footer>}
    </>
  );
}

function SignedOut() {
  const session = useSession();
  const { isLoading, isAuthenticated } = useConvexAuth();
  const isRefused = session.state.phase === "in" && !isLoading && !isAuthenticated;
  useEffect(() => {
    if (isRefused) session.end();
  }, [isRefused, session]);
  const hasEnded = isRefused || (session.state.phase === "out" && session.state.hasEnded);
  return (
    <>
      <h1>Sign in</h1>
      {hasEnded && <p role="alert">Your session has ended.</p>}
      <Field label="Name" button="Sign in" onSubmit={session.signIn} />
    </>
  );
}

function Notes() {
  const session = useSession();
  const mine = useQuery(api.notes.mine);
  const add = useMutation(api.notes.add);
  if (mine === undefined) return "Loading…";
  return (
    <>
      <h1>{`Notes of ${mine.owner}`}</h1>
      <ul>
        {mine.notes.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
      <Field label="Note" button="Add" onSubmit={(text) => add({ text })} />
      <Field label="Name" button="Switch user" onSubmit={session.signIn} />
      <button onClick={() => void session.signOut()}>Sign out</button>
    </>
  );
}

function Field({ label, button, onSubmit }: { label: string; button: string; onSubmit: (text: string) => Promise<unknown> }) {
  const [text, setText] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    if (text === "") return;
    void onSubmit(text);
    setText("");
  }
  return (
    <form onSubmit={submit}>
      <label>
        {label} <input value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <button>{button}</button>
    </form>
  );
}
