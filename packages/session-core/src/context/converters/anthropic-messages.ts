// The parts of a request of Anthropic's Messages API.

/** Text, never blank: the API rejects blank texts. */
export interface AnthropicTextBlock {
  readonly type: "text";
  readonly text: string;
}

/** An image; `data` is base64. */
export interface AnthropicImageBlock {
  readonly type: "image";
  readonly source:
    | {
        readonly type: "base64";
        readonly media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
        readonly data: string;
      }
    | { readonly type: "url"; readonly url: string };
}

/** A PDF (`data` is base64) or a text. */
export interface AnthropicDocumentBlock {
  readonly type: "document";
  readonly source:
    | { readonly type: "base64"; readonly media_type: "application/pdf"; readonly data: string }
    | { readonly type: "text"; readonly media_type: "text/plain"; readonly data: string }
    | { readonly type: "url"; readonly url: string };
  readonly title?: string;
}

/** Thinking, signed by the model. */
export interface AnthropicThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

/** Thinking whose text the API hides. */
export interface AnthropicRedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** A tool call. */
export interface AnthropicToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The summary of a compaction that the API wrote, as it came. It stands in place of the messages before it. */
export interface AnthropicCompactionBlock {
  readonly type: "compaction";
  readonly content: string;
  readonly [field: string]: unknown;
}

/** A block of the API that Bough stores as `foreign` and sends back unchanged: documents, tools that Anthropic runs. */
export interface AnthropicRawBlock {
  readonly type: "document" | "search_result" | "server_tool_use" | "mcp_tool_use" | `${string}_tool_result`;
  readonly [field: string]: unknown;
}

/** The result of a tool call. */
export interface AnthropicToolResultBlock {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: (AnthropicTextBlock | AnthropicImageBlock | AnthropicDocumentBlock | AnthropicRawBlock)[];
  readonly is_error?: true;
}

/** A block of a user message. */
export type AnthropicUserBlock =
  | AnthropicTextBlock
  | AnthropicImageBlock
  | AnthropicDocumentBlock
  | AnthropicToolResultBlock
  | AnthropicRawBlock;

/** A block of an assistant message. */
export type AnthropicAssistantBlock =
  | AnthropicTextBlock
  | AnthropicThinkingBlock
  | AnthropicRedactedThinkingBlock
  | AnthropicToolUseBlock
  | AnthropicCompactionBlock
  | AnthropicRawBlock;

/** A message of a request. */
export type AnthropicMessage =
  | { readonly role: "user"; readonly content: AnthropicUserBlock[] }
  | { readonly role: "assistant"; readonly content: AnthropicAssistantBlock[] };

/** The fields of a Messages request that come from a context; spread them into the request. */
export interface AnthropicPrompt<Message = AnthropicMessage> {
  readonly system?: string;
  readonly messages: Message[];
}
