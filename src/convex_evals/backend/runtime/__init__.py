"""Node processes that execute functions, and the protocol to them."""
