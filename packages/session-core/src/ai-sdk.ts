// The supported API for agents on the AI SDK (package `ai`, version 6 or 7): `@bough/session-core/ai-sdk`. Of `ai` only types are
// used; nothing of it is loaded.

export { type MessageVersions, messageVersions, type ReceivedChat, receiveChat, showVersion } from "./ai-sdk/chat.js";
export { fromAiSdk } from "./ai-sdk/from-ai-sdk.js";
export { fromUiMessages } from "./ai-sdk/from-ui-messages.js";
export { type RecordOptions, recordResult, recordSteps, recordStream, type StepRecorder } from "./ai-sdk/record.js";
export type { AiSdkStep, AiSdkStreamPart } from "./ai-sdk/step.js";
export { resultEntriesOf, stepEntries } from "./ai-sdk/step-entries.js";
export { type StepRead, StepReader } from "./ai-sdk/step-reader.js";
export { toUiMessages } from "./ai-sdk/to-ui-messages.js";
export { toAiSdk } from "./context/converters/ai-sdk.js";
export type { AiSdkMessage, AiSdkPrompt } from "./context/converters/ai-sdk-messages.js";
