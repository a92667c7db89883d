export default {
  providers: [{ domain: "https://issuer.example", applicationID: "convex" }],
};
