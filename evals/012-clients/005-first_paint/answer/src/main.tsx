import { ConvexProvider, ConvexReactClient } from "convex/react";
import { type JSONValue, jsonToConvex } from "convex/values";
import { hydrateRoot } from "react-dom/client";
import App, { type Board } from "./App";
import { fetchToken } from "./session";

const data = JSON.parse(document.getElementById("data")!.textContent) as JSONValue;
const board = jsonToConvex(data) as Board;
const isSignedIn = board.me !== null;

const convex = new ConvexReactClient(import.meta.env.VITE_CONVEX_URL, { expectAuth: isSignedIn });
if (isSignedIn) convex.setAuth(fetchToken);

hydrateRoot(
  document.getElementById("root")!,
  <ConvexProvider client={convex}>
    <App board={board} />
  </ConvexProvider>,
);
