// The module that `import` loads: the adapter, or an error that says which framework to install. `require` and bundlers load `index.ts`
// itself, because neither can wait while a module is loaded.
import { requireFramework } from "../peer.js";

await requireFramework(
  { name: "@anthropic-ai/claude-agent-sdk", range: ">=0.3.300 <0.4", uses: ["foldSessionSummary"] },
  () => import("@anthropic-ai/claude-agent-sdk"),
);

export const { BoughSessionStore, FrameworkMissingError, FrameworkVersionError } = await import("./index.js");
