import { useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const [channel, setChannel] = useState("general");
  return (
    <main>
      <h1>Messages</h1>
      <label>
        Channel{" "}
        <select value={channel} onChange={(event) => setChannel(event.target.value)}>
          <option>general</option>
          <option>random</option>
        </select>
      </label>
      <Messages channel={channel} />
    </main>
  );
}

function Messages({ channel }: { channel: string }) {
  const messages = useQuery(api.messages.list, { channel });
  if (messages === undefined) {
    return <p role="status">Loading…</p>;
  }
  if (messages.length === 0) {
    return <p>No messages yet.</p>;
  }
  return (
    <ul>
      {messages.map((message) => (
        <li key={message._id}>
          {message.author}: {message.text}
        </li>
      ))}
    </ul>
  );
}
