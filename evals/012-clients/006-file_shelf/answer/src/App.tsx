import { useMutation, useQuery } from "convex/react";
import type { ChangeEvent } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";
import { type State, useUploads } from "./uploads";

function describe(state: State): string {
  switch (state.kind) {
    case "sending":
      return `${state.percent} %`;
    case "saving":
      return "Saving…";
    case "failed":
      return "Failed";
    case "refused":
      return state.reason;
  }
}

export default function App() {
  const entries = useQuery(api.shelf.list);
  const remove = useMutation(api.shelf.remove);
  const { uploads, begin, cancel, retry, dismiss } = useUploads();

  function choose({ target }: ChangeEvent<HTMLInputElement>, entryId: Id<"entries"> | null) {
    begin(target.files, entryId);
    target.value = ""; // so that choosing the same file again is a change
  }

  return (
    <main>
      <label>
        Add files <input type="file" multiple onChange={(event) => choose(event, null)} />
      </label>
      <ul aria-label="Uploads">
        {uploads.map((upload) => (
          <li key={upload.id}>
            <span>{upload.file.name}</span> <span role="status">{describe(upload.state)}</span>
            {upload.state.kind === "sending" && <button onClick={() => cancel(upload.id)}>Cancel</button>}
            {upload.state.kind === "failed" && <button onClick={() => retry(upload)}>Retry</button>}
            {(upload.state.kind === "failed" || upload.state.kind === "refused") && (
              <button onClick={() => dismiss(upload.id)}>Dismiss</button>
            )}
          </li>
        ))}
      </ul>
      {entries !== undefined && (
        <ul aria-label="Shelf">
          {entries.map(({ id, name, size, url }) => (
            <li key={id}>
              <a href={url ?? undefined}>{name}</a> <span>{`${size} bytes`}</span>
              <label>
                {`Replace ${name}`} <input type="file" onChange={(event) => choose(event, id)} />
              </label>
              <button onClick={() => void remove({ entryId: id })}>{`Remove ${name}`}</button>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
