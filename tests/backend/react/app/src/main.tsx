import { ConvexProviderWithAuth, ConvexReactClient } from "convex/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { SessionProvider, useSessionAuth } from "./session";
import "./style.css";

// One build serves every test, each of which has a deployment of its own.
const deployment = new URLSearchParams(location.search).get("deployment");
if (deployment === null) throw new Error("The address must say ?deployment=URL.");
const client = new ConvexReactClient(deployment);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <SessionProvider>
      <ConvexProviderWithAuth client={client} useAuth={useSessionAuth}>
        <App />
      </ConvexProviderWithAuth>
    </SessionProvider>
  </StrictMode>,
);
