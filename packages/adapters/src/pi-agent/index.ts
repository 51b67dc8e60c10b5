// `@bough/adapters/pi-agent`: sessions of pi's `Agent`. It loads nothing of pi.

export { FrameworkVersionError } from "../peer.js";
export { type KeepAgentOptions, type KeptAgent, keepAgent, type PiAgent, type PiRequest, type RequestCompactor } from "./keep-agent.js";
