// Packages that a suite's own node_modules does not have come from our toolchain. Nothing is cached beside the suite.

const isBare = (source) => !/^[./\0#]|^node:|^[a-z]+:\/\//.test(source);

export const fallbackTo = (manifest, cacheDir) => ({
  cacheDir,
  test: { fsModuleCache: false },
  plugins: [
    {
      name: "convex-evals:toolchain-packages",
      async resolveId(source, importer, options) {
        if (!importer || importer === manifest || !isBare(source)) return null;
        const found = await this.resolve(source, importer, { ...options, skipSelf: true });
        return found ?? this.resolve(source, manifest, { ...options, skipSelf: true });
      },
    },
  ],
});
