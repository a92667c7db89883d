export default {
  providers: [
    {
      type: "customJwt",
      applicationID: "tests",
      issuer: "https://sign-in.example",
      algorithm: "ES256",
      // Of the key in kit/test_deployment.py.
      jwks: "data:application/json;base64,eyJrZXlzIjogW3sia3R5IjogIkVDIiwgImNydiI6ICJQLTI1NiIsICJ4IjogImJxMUNHcDJwVFdIcmJLUDZ5LXR1bG53c0MwWUJwUEV6YmxldGZHTUEyd0UiLCAieSI6ICJQbWFDdlhtZ1FzZjRBODdrZzAxTXlPMHA0aDh4Y0lQdnFFY083b011S0VZIiwgImtpZCI6ICJ0ZXN0IiwgImFsZyI6ICJFUzI1NiIsICJ1c2UiOiAic2lnIn1dfQ==",
    },
  ],
};
