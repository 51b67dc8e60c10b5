import { loadFramework } from "../peer.js";

/** What the adapter calls of pi-agent-core. */
export const { StorageBackedSession, projectForkCurrentStateWrite, resolveListReadOptions } = await loadFramework(
  {
    name: "@earendil-works/pi-agent-core",
    range: ">=0.86.0 <0.88",
    uses: ["StorageBackedSession", "projectForkCurrentStateWrite", "resolveListReadOptions"],
  },
  () => import("@earendil-works/pi-agent-core/harness/session"),
);
