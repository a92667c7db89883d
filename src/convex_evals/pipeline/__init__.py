"""Is an answer right? Six steps: filesystem, install, deploy, tsc, eslint, tests."""
