import { useState } from "react";
import type { Id } from "../convex/_generated/dataModel";
import { Reader, type Reading, startReading } from "./Reader";
import { Titles, type Topic, TOPICS } from "./Titles";

/** What is shown, and what is to be shown as soon as it is there. Both are loaded, so that the first stays live. */
export default function App() {
  const [shown, setShown] = useState<Topic | null>(null);
  const [wanted, setWanted] = useState<Topic>("All");
  const [reading, setReading] = useState<Reading>({ shown: null, wanted: null });
  const topics = shown === null || shown === wanted ? [wanted] : [shown, wanted];
  const choose = (id: Id<"articles">) => setReading((before) => startReading(before, id));
  return (
    <main>
      <label>
        Topic{" "}
        <select value={wanted} onChange={(event) => setWanted(TOPICS[event.target.selectedIndex] ?? "All")}>
          {TOPICS.map((topic) => (
            <option key={topic}>{topic}</option>
          ))}
        </select>
      </label>
      {shown === null && <p>Loading…</p>}
      {topics.map((topic) => (
        <Titles
          key={topic}
          topic={topic}
          isShown={topic === shown}
          isBusy={shown !== wanted}
          current={reading.shown}
          onArrival={setShown}
          onClick={choose}
        />
      ))}
      <Reader reading={reading} onArrival={setReading} />
    </main>
  );
}
