import { useConvex, useConvexConnectionState, useQuery } from "convex/react";
import { ConvexError } from "convex/values";
import { type FormEvent, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";
import { mail } from "./mail";

const PENDING = "pending:";
type Mailing = "on its way" | "mailed";

function Status() {
  const { hasEverConnected, isWebSocketConnected, inflightMutations } = useConvexConnectionState();
  return <p role="status">{describe(hasEverConnected, isWebSocketConnected, inflightMutations)}</p>;
}

function describe(wasConnected: boolean, isConnected: boolean, unsaved: number): string {
  if (!wasConnected) return "Connecting…";
  if (!isConnected) return unsaved > 0 ? `Offline, ${unsaved} not saved` : "Offline";
  return unsaved > 0 ? `Saving ${unsaved}…` : "Online";
}

export default function App() {
  const convex = useConvex();
  const notes = useQuery(api.notes.list);
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<string | null>(null);
  const [mailings, setMailings] = useState<ReadonlyMap<Id<"notes">, Mailing>>(new Map());

  function report(error: unknown) {
    setFailure(error instanceof ConvexError ? String(error.data) : "Something went wrong");
  }

  function add(event: FormEvent) {
    event.preventDefault();
    if (text === "") return;
    const _id = `${PENDING}${crypto.randomUUID()}` as Id<"notes">;
    const note = { _id, _creationTime: Date.now(), text, votes: 0 };
    const added = convex.mutation(
      api.notes.add,
      { text },
      {
        optimisticUpdate: (store) => {
          const before = store.getQuery(api.notes.list, {});
          if (before !== undefined) store.setQuery(api.notes.list, {}, [...before, note]);
        },
      },
    );
    added.catch(report);
    setText("");
  }

  function vote(noteId: Id<"notes">) {
    const voted = convex.mutation(
      api.notes.vote,
      { noteId },
      {
        optimisticUpdate: (store) => {
          const before = store.getQuery(api.notes.list, {});
          const after = before?.map((note) => (note._id === noteId ? { ...note, votes: note.votes + 1 } : note));
          store.setQuery(api.notes.list, {}, after);
        },
      },
    );
    voted.catch(report);
  }

  function setMailing(noteId: Id<"notes">, mailing: Mailing | null) {
    setMailings((before) => {
      const after = new Map(before);
      if (mailing === null) after.delete(noteId);
      else after.set(noteId, mailing);
      return after;
    });
  }

  async function send({ _id, text }: Doc<"notes">) {
    setMailing(_id, "on its way");
    try {
      await mail(convex, text);
      setMailing(_id, "mailed");
    } catch (error) {
      setMailing(_id, null);
      report(error);
    }
  }

  return (
    <main>
      <Status />
      <form onSubmit={add}>
        <label>
          Note <input value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button>Add</button>
      </form>
      {failure !== null && <p role="alert">{failure}</p>}
      {notes !== undefined && (
        <ul>
          {notes.map((note) => (
            <li key={note._id}>
              <span>{note.text}</span>
              <button disabled={note._id.startsWith(PENDING)} onClick={() => vote(note._id)}>
                {`Vote (${note.votes})`}
              </button>
              <button
                disabled={note._id.startsWith(PENDING) || mailings.has(note._id)}
                onClick={() => void send(note)}
              >
                {label(mailings.get(note._id))}
              </button>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}

function label(mailing: Mailing | undefined): string {
  if (mailing === undefined) return "Mail";
  return mailing === "mailed" ? "Mailed" : "Mailing…";
}
