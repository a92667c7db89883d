import { useMutation, useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

export function App() {
  const messages = useQuery(api.messages.list, { author: "me" });
  const send = useMutation(api.messages.send);
  const [body, setBody] = useState("");
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        await send({ author: "me", body });
        setBody("");
      }}
    >
      <input value={body} onChange={(event) => setBody(event.target.value)} />
      <ul>{messages?.map((message, index) => <li key={index}>{message}</li>)}</ul>
    </form>
  );
}
