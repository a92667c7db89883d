"""The command `demo`: the whole story on this machine, with a model that needs no key."""
