// An esbuild plugin. An `import` of `node:crypto` reads every member of it, and so loads WebCrypto and all else that Node
// loads on demand: 9 ms at every start. `process.getBuiltinModule` (Node 20.16) does not.

/** Takes `node:crypto` without an `import`. */
export const CRYPTO_ON_DEMAND = {
  name: "crypto-on-demand",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?crypto$/ }, () => ({ path: "node:crypto", namespace: "on-demand" }));
    onLoad({ filter: /.*/, namespace: "on-demand" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
