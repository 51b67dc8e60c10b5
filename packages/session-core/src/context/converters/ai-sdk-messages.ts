// The subset of the AI SDK's messages (version 6 and 7) that a context needs. Structural, so that the package `ai` is not needed.

/** A value of JSON, as the AI SDK's types write it. */
export type AiSdkJson = null | string | number | boolean | { [member: string]: AiSdkJson | undefined } | AiSdkJson[];

/** The data that a provider needs back, by its name: signatures, ids of items. Each provider reads only its own members. */
export interface AiSdkProviderOptions {
  [provider: string]: { [member: string]: AiSdkJson | undefined };
}

/** The members that every part may have. */
export interface AiSdkPart {
  readonly providerOptions?: AiSdkProviderOptions;
}

/** Text of a message. */
export interface AiSdkTextPart extends AiSdkPart {
  readonly type: "text";
  readonly text: string;
}

/** An image of a user message; `image` is base64. */
export interface AiSdkImagePart extends AiSdkPart {
  readonly type: "image";
  readonly image: string;
  readonly mediaType: string;
}

/** A file: `data` is base64, or a URL. */
export interface AiSdkFilePart extends AiSdkPart {
  readonly type: "file";
  readonly data: string | URL;
  readonly mediaType: string;
  readonly filename?: string;
}

/** Thinking, with the data that its provider needs to accept it again. */
export interface AiSdkReasoningPart extends AiSdkPart {
  readonly type: "reasoning";
  readonly text: string;
}

/** A tool call. `providerExecuted`: the provider ran it, and its result is in the same message. */
export interface AiSdkToolCallPart extends AiSdkPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly providerExecuted?: boolean;
}

/** A part of a result with images or files; `data` is base64. */
export type AiSdkResultPart = AiSdkPart &
  (
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image-data"; readonly data: string; readonly mediaType: string }
    | { readonly type: "image-url"; readonly url: string }
    | { readonly type: "file-data"; readonly data: string; readonly mediaType: string; readonly filename?: string }
    | { readonly type: "file-url"; readonly url: string }
  );

/** The output of a tool call. */
export type AiSdkToolOutput =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "json"; readonly value: AiSdkJson }
  | { readonly type: "error-text"; readonly value: string }
  | { readonly type: "error-json"; readonly value: AiSdkJson }
  | { readonly type: "execution-denied"; readonly reason: string }
  | { readonly type: "content"; readonly value: AiSdkResultPart[] };

/** The result of a tool call. */
export interface AiSdkToolResultPart extends AiSdkPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: AiSdkToolOutput;
}

/** A part of an assistant message. */
export type AiSdkAssistantPart =
  | AiSdkTextPart
  | AiSdkFilePart
  | AiSdkReasoningPart
  | AiSdkToolCallPart
  | AiSdkToolResultPart
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string; readonly signature?: string };

/** A message, which fits the AI SDK's `ModelMessage`. */
export type AiSdkMessage =
  | { readonly role: "user"; readonly content: (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] }
  | { readonly role: "assistant"; readonly content: AiSdkAssistantPart[] }
  | {
      readonly role: "tool";
      readonly content: (
        | AiSdkToolResultPart
        | { readonly type: "tool-approval-response"; readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
      )[];
    };

/** The options of `generateText` and `streamText` that come from a context; spread them into the options. */
export interface AiSdkPrompt {
  readonly system?: string;
  readonly messages: AiSdkMessage[];
}
