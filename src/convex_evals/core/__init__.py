"""What every other part stands on: ids, errors, settings, processes, the JavaScript toolchain."""
