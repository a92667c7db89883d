import { useConvex } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

const TYPES = ["image/png", "text/plain"];
const MOST_BYTES = 300_000;

export type State =
  | { kind: "sending"; percent: number }
  | { kind: "saving" }
  | { kind: "failed" }
  | { kind: "refused"; reason: string };

export type Upload = { id: string; file: File; entryId: Id<"entries"> | null; state: State };

function refusal({ type, size }: File): string | null {
  if (!TYPES.includes(type)) return "Only PNG images and plain text";
  return size > MOST_BYTES ? `Larger than ${MOST_BYTES} bytes` : null;
}

/** Sends a file and returns the id of what was stored. Only XMLHttpRequest tells how much has been sent. */
function send(url: string, file: File, signal: AbortSignal, onProgress: (percent: number) => void) {
  return new Promise<Id<"_storage">>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : Math.floor((100 * loaded) / total));
    request.onload = () => {
      if (request.status !== 200) reject(new Error(`The deployment responded with ${request.status}`));
      else resolve((JSON.parse(request.responseText) as { storageId: Id<"_storage"> }).storageId);
    };
    request.onerror = () => reject(new Error("The connection broke off"));
    request.onabort = () => reject(new Error("Canceled"));
    signal.addEventListener("abort", () => request.abort());
    request.open("POST", url);
    request.setRequestHeader("Content-Type", file.type);
    request.send(file);
  });
}

export function useUploads() {
  const convex = useConvex();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [controllers] = useState(() => new Map<string, AbortController>());

  function setState(id: string, state: State) {
    setUploads((before) => before.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  function remove(id: string) {
    setUploads((before) => before.filter((upload) => upload.id !== id));
  }

  async function run({ id, file, entryId }: Upload) {
    const controller = new AbortController();
    controllers.set(id, controller);
    try {
      const url = await convex.mutation(api.shelf.uploadUrl, {});
      controller.signal.throwIfAborted();
      const storageId = await send(url, file, controller.signal, (percent) => {
        if (!controller.signal.aborted) setState(id, { kind: "sending", percent });
      });
      controller.signal.throwIfAborted();
      setState(id, { kind: "saving" });
      // When this is resolved, the client already has the list that includes it.
      const reason = await (entryId === null
        ? convex.mutation(api.shelf.add, { storageId, name: file.name })
        : convex.mutation(api.shelf.replace, { entryId, storageId }));
      if (reason === null) remove(id);
      else setState(id, { kind: "refused", reason });
    } catch {
      if (!controller.signal.aborted) setState(id, { kind: "failed" });
    }
  }

  function begin(files: FileList | null, entryId: Id<"entries"> | null) {
    const begun = [...(files ?? [])].map((file): Upload => {
      const reason = refusal(file);
      const state: State = reason === null ? { kind: "sending", percent: 0 } : { kind: "refused", reason };
      return { id: crypto.randomUUID(), file, entryId, state };
    });
    setUploads((before) => [...before, ...begun]);
    for (const upload of begun) if (upload.state.kind === "sending") void run(upload);
  }

  function cancel(id: string) {
    controllers.get(id)?.abort();
    remove(id);
  }

  function retry(upload: Upload) {
    setState(upload.id, { kind: "sending", percent: 0 });
    void run(upload);
  }

  return { uploads, begin, cancel, retry, dismiss: remove };
}
