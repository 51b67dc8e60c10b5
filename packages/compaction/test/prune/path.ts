import type { ContextMessage } from "@bough/session-core";
import type { PathItem } from "../../src/plan/span.js";
import { messageTokens } from "../../src/tokens/message-tokens.js";

/** One token a character: sizes can be read off the texts. */
const characters = { name: "characters/1", count: (text: string) => text.length };

/** A text of so many characters that begins with a name; different for each name. */
export function sized(name: string, length: number): string {
  return `${name} ${".".repeat(Math.max(0, length - name.length - 1))}`;
}

/** The arguments of a call and the text of its result. */
export interface Call {
  readonly tool?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly text?: string;
  readonly size?: number;
  readonly details?: unknown;
  readonly isError?: boolean;
  readonly content?: Extract<ContextMessage, { role: "toolResult" }>["content"];
}

/** The item of a message. */
export function item(id: string, message: ContextMessage): PathItem {
  return { id, type: "message", messages: [message], tokens: messageTokens(characters, message) };
}

/** A prompt. */
export function prompt(id: string): readonly PathItem[] {
  return [item(id, { role: "user", content: id })];
}

/** An answer in words, and the prompt that follows it. */
export function next(id: string): readonly PathItem[] {
  return [item(`${id}-before`, { role: "assistant", content: [{ type: "text", text: "ok" }] }), ...prompt(id)];
}

/** A reply with one call, `kN`, and its result, `rN`, by default of 1,000 characters. */
export function called(n: number, { tool = "bash", with: given = {}, text, size = 1_000, ...rest }: Call = {}): readonly PathItem[] {
  return [
    item(`k${n}`, { role: "assistant", content: [{ type: "toolCall", id: `c${n}`, name: tool, arguments: { ...given } }] }),
    item(`r${n}`, {
      role: "toolResult",
      toolCallId: `c${n}`,
      toolName: tool,
      content: rest.content ?? [{ type: "text", text: text ?? sized(`result ${n}`, size) }],
      isError: rest.isError ?? false,
      details: rest.details,
    }),
  ];
}

/** A reply that reads a file, with the result. */
export function read(n: number, path: string, part: Readonly<Record<string, unknown>> = {}, rest: Call = {}): readonly PathItem[] {
  return called(n, { tool: "read", with: { path, ...part }, ...rest });
}

/** Items with edits in force, as a later look at the path gives them. */
export function applied(
  items: readonly PathItem[],
  edits: readonly { readonly targetId: string; readonly replacement: { readonly content: string } }[],
): readonly PathItem[] {
  const contents = new Map(edits.map(({ targetId, replacement }) => [targetId, replacement.content]));
  return items.map((one) => {
    const [message] = one.messages;
    const content = contents.get(one.id);
    return content === undefined || message?.role !== "toolResult" ? one : item(one.id, { ...message, content });
  });
}
