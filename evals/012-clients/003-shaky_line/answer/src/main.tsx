import { ConvexProvider, ConvexReactClient } from "convex/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import App from "./App";

// The client's own warning is about actions too, and not about what has not been sent.
const convex = new ConvexReactClient(import.meta.env.VITE_CONVEX_URL, { unsavedChangesWarning: false });

window.addEventListener("beforeunload", (event) => {
  if (convex.connectionState().inflightMutations > 0) event.preventDefault();
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ConvexProvider client={convex}>
      <App />
    </ConvexProvider>
  </StrictMode>,
);
