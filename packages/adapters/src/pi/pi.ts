/** The functions and the class of pi-agent-core that the adapter uses. */
export { projectForkCurrentStateWrite, resolveListReadOptions, StorageBackedSession } from "@earendil-works/pi-agent-core/harness/session";
