/** What the adapter calls of pi-agent-core. */
export { projectForkCurrentStateWrite, resolveListReadOptions, StorageBackedSession } from "@earendil-works/pi-agent-core/harness/session";
