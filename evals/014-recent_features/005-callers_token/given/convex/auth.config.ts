import type { AuthConfig } from "convex/server";

export default {
  providers: [
    {
      type: "customJwt",
      applicationID: "prints",
      issuer: "https://sign-in.example",
      algorithm: "ES256",
      jwks: "data:application/json;base64,eyJrZXlzIjogW3sia3R5IjogIkVDIiwgImNydiI6ICJQLTI1NiIsICJ4IjogIkN1ejlja1dPVlhweDNFZUN5Z05ZdER5MGo5Z2ExMk1scmhHaHR5QmxqLWsiLCAieSI6ICJxc3dpNGhVeUFTejV1MVZHcHRsUVZ5TGNSODBSb29KVGJhSGVHVW1zcFg0IiwgImtpZCI6ICJjb21wYW55IiwgImFsZyI6ICJFUzI1NiIsICJ1c2UiOiAic2lnIn1dfQ==",
    },
  ],
} satisfies AuthConfig;
