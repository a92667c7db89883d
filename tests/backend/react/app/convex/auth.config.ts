import type { AuthConfig } from "convex/server";

export default {
  providers: [
    {
      type: "customJwt",
      applicationID: "guestbook",
      issuer: process.env.ISSUER!,
      jwks: process.env.JWKS!,
      algorithm: "ES256",
    },
  ],
} satisfies AuthConfig;
