// `@bough/adapters/openai-agents`: sessions of the OpenAI Agents SDK.

export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
export { BoughSession, type BoughSessionOptions, type TurnCompactor } from "./session.js";
