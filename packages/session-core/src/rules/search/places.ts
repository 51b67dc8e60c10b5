import type { EntryPayload } from "../../entry/entry.js";
import type { AssistantBlock, Message, ToolCallBlock } from "../../entry/message.js";
import { searchableText } from "../../entry/text.js";
import type { SearchPlace } from "../../port/search.js";
import { classifyCall } from "../../tools/arguments.js";
import { findKnownToolKind, type ToolKind } from "../../tools/known-tools.js";

/** A piece of the searchable text of an entry. Tool calls can be in two places: `tool` and `code`. */
interface Piece {
  readonly text: string;
  readonly places: readonly SearchPlace[];
}

/** The part of the searchable text of a payload that is in one of the places, joined by line breaks. */
export function textInPlaces(payload: EntryPayload, places: readonly SearchPlace[]): string {
  const pieces = listPieces(payload).filter((piece) => piece.places.some((place) => places.includes(place)));
  return pieces.map(({ text }) => text).join("\n");
}

function listPieces(payload: EntryPayload): readonly Piece[] {
  return payload.type === "message" ? piecesOfMessage(payload.message) : divideText(searchableText(payload));
}

function piecesOfMessage(message: Message): readonly Piece[] {
  switch (message.role) {
    case "toolResult":
      return [{ text: searchableText({ type: "message", message }), places: placesOf(kindOfName(message.toolName), ["read"]) }];
    case "bashExecution":
      return [
        { text: message.command, places: ["tool", "code"] },
        { text: message.output, places: ["tool"] },
      ];
    case "assistant": {
      const pieces = message.content.flatMap((block) => piecesOfBlock(message, block));
      return [...pieces, { text: message.errorMessage ?? "", places: ["prose"] }];
    }
    case "system":
    case "user":
    case "custom":
      return divideText(searchableText({ type: "message", message }));
  }
}

function piecesOfBlock(message: Message & { readonly role: "assistant" }, block: AssistantBlock): readonly Piece[] {
  const text = searchableText({ type: "message", message: { ...message, content: [block], errorMessage: undefined } });
  return block.type === "toolCall" ? [{ text, places: placesOf(kindOf(block), WITH_CODE) }] : divideText(text);
}

const WITH_CODE: readonly ToolKind[] = ["write", "edit", "patch", "command"];

function kindOf({ name, arguments: args }: ToolCallBlock): ToolKind | undefined {
  return classifyCall({ name, arguments: args });
}

function kindOfName(name: string | undefined): ToolKind | undefined {
  return name === undefined ? undefined : findKnownToolKind(name);
}

function placesOf(kind: ToolKind | undefined, withCode: readonly ToolKind[]): readonly SearchPlace[] {
  return kind !== undefined && withCode.includes(kind) ? ["tool", "code"] : ["tool"];
}

const FENCE = /^ {0,3}(?:> ?)*(`{3,}|~{3,})/;

/** Text of people and models: what is in fenced blocks is code. A fence that is not closed ends with the text. */
function divideText(text: string): readonly Piece[] {
  const [prose, code]: [string[], string[]] = [[], []];
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const fence = FENCE.exec(line)?.[1] ?? "";
    const isEnd: boolean = open !== null && fence.startsWith(open);
    if (open !== null && !isEnd) code.push(line);
    else if (fence === "") prose.push(line);
    if (isEnd) open = null;
    else if (open === null && fence !== "") open = fence;
  }
  return [
    { text: prose.join("\n"), places: ["prose"] },
    { text: code.join("\n"), places: ["code"] },
  ];
}

/** True if a payload calls a tool of this name, in any case, or is its result. */
export function usesTool(payload: EntryPayload, tool: string): boolean {
  if (payload.type !== "message") return false;
  const isNamed = (name: string | undefined) => name?.toLowerCase() === tool.toLowerCase();
  const { message } = payload;
  if (message.role === "toolResult") return isNamed(message.toolName);
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall" && isNamed(block.name));
}
