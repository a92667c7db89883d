"""One call of one function: look-up, checks, transaction, syscalls, retries, result, logs."""
