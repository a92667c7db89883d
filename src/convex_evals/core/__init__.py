"""What every other part builds on: ids, errors, settings, processes, the JavaScript toolchain."""
