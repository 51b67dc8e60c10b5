// The supported API for agents on the AI SDK (package `ai`, version 6 or 7): `@bough/compaction/ai-sdk`.

export { type PreparedStep, type PrepareStepOptions, prepareStep } from "./ai-sdk/prepare-step.js";
export { aiSdkRecallTools } from "./ai-sdk/recall-tools.js";
export { type AiSdkSummarizerOptions, aiSdkSummarizer } from "./ai-sdk/summarizer.js";
