// The module that `import` loads: the adapter, or an error that says which framework to install. `require` and bundlers load `index.ts`
// itself, because neither can wait while a module is loaded.
import { requireFramework } from "../peer.js";

await requireFramework(
  {
    name: "@earendil-works/pi-agent-core",
    range: ">=0.86.0 <0.88",
    uses: ["StorageBackedSession", "projectForkCurrentStateWrite", "resolveListReadOptions"],
  },
  () => import("@earendil-works/pi-agent-core/harness/session"),
);

export const { BoughPiStorage, BoughSessionRepo, FrameworkMissingError, FrameworkVersionError } = await import("./index.js");
