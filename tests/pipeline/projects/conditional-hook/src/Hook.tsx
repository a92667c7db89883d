import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";

export function Hook(props: { author?: string; onDone: (value: any) => void }) {
  if (props.author === undefined) {
    return null;
  }
  const messages = useQuery(api.messages.list, { author: props.author });
  props.onDone(messages);
  return <p>{messages?.length}</p>;
}
