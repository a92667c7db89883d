"""Users prove who they are with tokens of the auth providers that the app trusts. See docs/auth.md."""

from convex_evals.backend.auth.verifier import JwtVerifier

__all__ = ["JwtVerifier"]
