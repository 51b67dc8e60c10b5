import type { ContentPart, ProviderMetadata, TextStreamPart, ToolSet } from "ai";

/** A step of `generateText`, `streamText` or an agent, as `onStepFinish` gets it. Structural, so that steps with any tools fit. */
export interface AiSdkStep {
  readonly content: readonly { readonly type: string }[];
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage: object;
  /** The model that was asked. */
  readonly model?: { readonly provider: string; readonly modelId: string } | undefined;
  readonly response: {
    readonly id?: string | undefined;
    /** As the server named the model. */
    readonly modelId?: string | undefined;
    readonly timestamp?: Date | undefined;
    readonly messages?: readonly { readonly role: string; readonly content: unknown }[] | undefined;
  };
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A part of `fullStream`, of any tools. */
export interface AiSdkStreamPart {
  readonly type: string;
}

/** The parts that version 7 added: content of a kind of the provider's own, and files of its thinking. */
type LaterPart =
  | { readonly type: "custom"; readonly kind: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: "reasoning-file";
      readonly file: { readonly base64: string; readonly mediaType: string };
      readonly providerMetadata?: ProviderMetadata;
    };
/** A part of a step's content. */
export type StepPart = ContentPart<ToolSet> | LaterPart;
/** A part of a stream. */
export type StreamPart = TextStreamPart<ToolSet> | LaterPart;

const STEP_PARTS = new Set<string>([
  "text",
  "reasoning",
  "source",
  "file",
  "tool-call",
  "tool-result",
  "tool-error",
  "tool-approval-request",
  "custom",
  "reasoning-file",
] satisfies StepPart["type"][]);

/** True if this version knows the type of a part. The members of such parts are those of the SDK's own types. */
export function isStepPart(part: { readonly type: string }): part is StepPart {
  return STEP_PARTS.has(part.type);
}

const STREAM_PARTS = new Set<string>([
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "source",
  "file",
  "tool-call",
  "tool-result",
  "tool-error",
  "tool-output-denied",
  "tool-approval-request",
  "start-step",
  "finish-step",
  "abort",
  "error",
  "custom",
  "reasoning-file",
] satisfies StreamPart["type"][]);

/** True if a part of a stream is recorded. */
export function isStreamPart(part: AiSdkStreamPart): part is StreamPart {
  return STREAM_PARTS.has(part.type);
}

/**
 * The provider in Bough's terms: `anthropic` for `anthropic.messages` and `vertex.anthropic.messages`, `openai` for
 * `openai.responses`.
 */
export function providerName(name: string | undefined): string | undefined {
  const parts = name?.split(".") ?? [];
  return parts.includes("anthropic") ? "anthropic" : parts[0];
}
