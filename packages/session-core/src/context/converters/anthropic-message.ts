/** Text; never blank, because the API refuses that. */
export interface AnthropicTextBlock {
  readonly type: "text";
  readonly text: string;
}

/** An image; `data` is base64. */
export interface AnthropicImageBlock {
  readonly type: "image";
  readonly source: {
    readonly type: "base64";
    readonly media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
    readonly data: string;
  };
}

/** What the model thought, as signed by it. */
export interface AnthropicThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

/** What the model thought and does not show. */
export interface AnthropicRedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** A call. */
export interface AnthropicToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A block of the API that Bough keeps as `foreign` and gives back as it came: documents, tools that Anthropic runs. */
export interface AnthropicRawBlock {
  readonly type: "document" | "search_result" | "server_tool_use" | "mcp_tool_use" | `${string}_tool_result`;
  readonly [field: string]: unknown;
}

/** The result of a call. */
export interface AnthropicToolResultBlock {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: (AnthropicTextBlock | AnthropicImageBlock | AnthropicRawBlock)[];
  readonly is_error?: true;
}

/** A block of a user message. */
export type AnthropicUserBlock = AnthropicTextBlock | AnthropicImageBlock | AnthropicToolResultBlock | AnthropicRawBlock;

/** A block of an assistant message. */
export type AnthropicAssistantBlock =
  | AnthropicTextBlock
  | AnthropicThinkingBlock
  | AnthropicRedactedThinkingBlock
  | AnthropicToolUseBlock
  | AnthropicRawBlock;

/** A message of a request. */
export type AnthropicMessage =
  | { readonly role: "user"; readonly content: AnthropicUserBlock[] }
  | { readonly role: "assistant"; readonly content: AnthropicAssistantBlock[] };

/** What a Messages request takes of a context; spread it into the request. */
export interface AnthropicPrompt {
  readonly system?: string;
  readonly messages: AnthropicMessage[];
}
