// The module that `import` loads: the adapter, or an error that says which framework to install. `require` and bundlers load `index.ts`
// itself, because neither can wait while a module is loaded.
import { requireFramework } from "../peer.js";

await requireFramework(
  { name: "@openai/agents-core", range: ">=0.20.0 <0.21", uses: ["MemorySession", "UserError", "applySessionHistoryMutations"] },
  () => import("@openai/agents-core"),
);

export const { BoughSession, FrameworkMissingError, FrameworkVersionError } = await import("./index.js");
