// `@bough/adapters/claude-agent-sdk`: sessions of the Claude Agent SDK.

export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
export { BoughSessionStore } from "./session-store.js";
