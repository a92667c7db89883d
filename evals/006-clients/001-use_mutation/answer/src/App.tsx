import { useMutation, useQuery } from "convex/react";
import { ConvexError } from "convex/values";
import { type FormEvent, useState } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const items = useQuery(api.items.list);
  return (
    <main>
      <h1>Shopping list</h1>
      <AddItem />
      <ul>{items?.map((item) => <li key={item._id}>{item.name}</li>)}</ul>
    </main>
  );
}

function AddItem() {
  const add = useMutation(api.items.add);
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isAdding, setIsAdding] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setIsAdding(true);
    try {
      await add({ name });
      setName("");
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof ConvexError ? String(error.data) : "Something went wrong.");
    } finally {
      setIsAdding(false);
    }
  }

  return (
    <form onSubmit={submit}>
      <label>
        Item <input value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <button type="submit" disabled={isAdding}>
        Add
      </button>
      {problem !== null && <p role="alert">{problem}</p>}
    </form>
  );
}
