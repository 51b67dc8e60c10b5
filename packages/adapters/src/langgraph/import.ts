// The module that `import` loads: the adapter, or an error that says which framework to install. `require` and bundlers load `index.ts`
// itself, because neither can wait while a module is loaded.
import { requireFramework } from "../peer.js";

await requireFramework(
  {
    name: "@langchain/langgraph-checkpoint",
    range: "^1.1.4",
    uses: ["BaseCheckpointSaver", "maxChannelVersion", "TASKS", "WRITES_IDX_MAP"],
  },
  () => import("@langchain/langgraph-checkpoint"),
);

export const { BaseCheckpointSaver, BoughSaver, CheckpointUnreadableError, FrameworkMissingError, FrameworkVersionError } = await import(
  "./index.js"
);
