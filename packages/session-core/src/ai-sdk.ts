// The supported API for agents on the AI SDK (package `ai`, version 6 or 7): `@bough/session-core/ai-sdk`. Types alone are
// taken from `ai`; nothing of it is loaded.
export { type AiSdkMessage, type AiSdkPrompt, toAiSdk } from "./context/converters/ai-sdk.js";
