// The supported API for agents on the AI SDK (package `ai`, version 6 or 7): `@bough/adapters/ai-sdk`. Of `ai` only types are
// used; nothing of it is loaded.

export { type AiSdkMessage, type AiSdkPrompt, toAiSdk } from "@bough/session-core";
export { type MessageVersions, messageVersions, type ReceivedChat, receiveChat, showVersion } from "./chat.js";
export { fromAiSdk } from "./from-ai-sdk.js";
export { fromUiMessages } from "./from-ui-messages.js";
export { type RecordOptions, recordResult, recordSteps, recordStream, type StepRecorder } from "./record.js";
export type { AiSdkStep, AiSdkStreamPart } from "./step.js";
export { type AiSdkResult, resultEntriesOf, stepEntries } from "./step-entries.js";
export { type StepRead, StepReader } from "./step-reader.js";
export { toUiMessages } from "./to-ui-messages.js";
