import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";

export default function App() {
  const notes = useQuery(api.notes.list);
  return (
    <main>
      <h1>Notes</h1>
      <ul>{notes?.map((note) => <li key={note._id}>{note.text}</li>)}</ul>
    </main>
  );
}
