import { ConvexProviderWithAuth, ConvexReactClient } from "convex/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import App from "./App";
import { SessionProvider, useSessionAuth } from "./useSession";

const convex = new ConvexReactClient(import.meta.env.VITE_CONVEX_URL, {
  initialAuthTokenReuse: true,
  authRefreshTokenLeewaySeconds: 60,
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <SessionProvider>
      <ConvexProviderWithAuth client={convex} useAuth={useSessionAuth}>
        <App />
      </ConvexProviderWithAuth>
    </SessionProvider>
  </StrictMode>,
);
