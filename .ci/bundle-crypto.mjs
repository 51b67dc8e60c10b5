// A plugin of Rolldown. An `import` of `node:crypto` reads every member of it, and so loads WebCrypto and all else that Node
// loads on demand: 9 ms at every start. `process.getBuiltinModule` (Node 20.16) does not.

const ON_DEMAND = "\0crypto-on-demand";

/** Takes `node:crypto` without an `import`. */
export const CRYPTO_ON_DEMAND = {
  name: "crypto-on-demand",
  resolveId: { filter: { id: /^(node:)?crypto$/ }, handler: () => ON_DEMAND },
  load: {
    filter: { id: /^\0crypto-on-demand$/ },
    handler: () => ({ code: 'module.exports = process.getBuiltinModule("node:crypto");', moduleType: "js" }),
  },
};
