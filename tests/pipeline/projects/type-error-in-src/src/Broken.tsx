import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";

export function Broken() {
  const messages = useQuery(api.messages.list, { writer: "me" });
  return <p>{messages?.length}</p>;
}
