"""An embedded Convex deployment: the real CLI deploys to it, real clients talk to it."""
