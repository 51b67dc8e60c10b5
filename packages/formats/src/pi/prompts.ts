import { isObject, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { toContent } from "./blocks.js";
import { FILLED } from "./marks.js";

// pi from 1.0 on writes the system prompt as the first message of a session: sections with a name each, behind a content that is mostly
// empty. Later system messages change, add and remove sections and tools (pi-ai 1.6.0, `utils/text.js` and `utils/transcript.js`).

/** `customType` of a change of the system prompt: a custom message if it has a text, else a custom entry. */
export const PROMPT_CHANGE = "pi.system";

/** True if a message of pi sets or changes parts of the system prompt. `toPiPrompt` has noted the content that Bough gave it. */
export function isSectioned(message: unknown): message is JsonObject {
  if (!isObject(message) || message.role !== "system" || FILLED in message) return false;
  return isObject(message.sections) || Array.isArray(message.toolsAdded) || Array.isArray(message.toolsRemoved);
}

/** The whole prompt, with the text that pi sends; undefined if it has an unexpected shape. */
export function toPrompt(message: JsonObject): JsonObject | undefined {
  const content = textOf(message);
  if (content === undefined) return undefined;
  const parts = [content, ...sectionTexts(message)].filter((part) => part !== "");
  return { ...message, content: parts.join("\n\n") };
}

/** The payload of a change; undefined if it has an unexpected shape. */
export function toPromptChange(message: JsonObject): JsonObject | undefined {
  const content = textOf(message);
  if (content === undefined) return undefined;
  const changes = Object.entries(objectAt(message, "sections") ?? {}).map(([name, text]) =>
    text === null ? `Removed system prompt section "${name}".` : `Updated system prompt section "${name}":\n\n${String(text)}`,
  );
  const text = [content, ...changes].filter((part) => part !== "").join("\n\n");
  if (text === "") return { type: "custom", customType: PROMPT_CHANGE, data: message };
  return { type: "custom_message", customType: PROMPT_CHANGE, content: text, display: false, details: message };
}

/** A system message with sections as pi writes it: they are not in its content. */
export function withoutSections(message: JsonObject, content: string): string {
  const sections = sectionTexts(message).join("\n\n");
  if (content === sections) return "";
  return content.endsWith(`\n\n${sections}`) ? content.slice(0, -sections.length - 2) : content;
}

function sectionTexts(message: JsonObject): readonly string[] {
  return Object.values(objectAt(message, "sections") ?? {}).filter((text): text is string => typeof text === "string" && text !== "");
}

function textOf(message: JsonObject): string | undefined {
  const content = toContent(message.content ?? "");
  if (typeof content === "string" || content === undefined) return content;
  if (!content.every((block) => block.type === "text")) return undefined;
  return content.map((block) => stringAt(block, "text") ?? "").join("\n");
}
