import { isObject, type JsonObject, objectAt, parseJsonObject, stringAt, textsAt } from "@bough/session-core/wire";
import { messagePayload, resultPayload } from "../source/payloads.js";

/** An entry of a request, without its place. */
export interface RequestEntry {
  /** The suffix that is added to the request's id; the same at each import. */
  readonly name: string;
  readonly createdAtMs?: number | undefined;
  readonly payload: JsonObject;
  /** The round of calls whose first entry this is. */
  readonly round?: string | undefined;
  /** For a compaction: the round that is the last one in the summary. */
  readonly summarizes?: string | undefined;
}

/**
 * Reads the replies in the parts that the screen shows, for a request without rounds. Adjacent calls are one reply with the text
 * before them; their results follow.
 */
export function readResponse(response: unknown): readonly RequestEntry[] {
  const parts: readonly unknown[] = Array.isArray(response) ? response : [];
  const entries: RequestEntry[] = [];
  let content: JsonObject[] = [];
  let results: JsonObject[] = [];
  const flush = () => {
    if (content.length === 0) return;
    const name = `p${entries.length}`;
    const stopReason = results.length > 0 ? "toolUse" : "stop";
    entries.push({ name, payload: messagePayload({ role: "assistant", content, stopReason }) });
    entries.push(...results.map((payload, at) => ({ name: `${name}:${at}`, payload })));
    content = [];
    results = [];
  };
  for (const part of parts.filter(isObject)) {
    if (part.kind === "toolInvocationSerialized" && typeof part.toolCallId === "string") {
      content.push(toCall(part, part.toolCallId));
      results.push(toResult(part, part.toolCallId));
      continue;
    }
    const block = toBlock(part);
    if (block === undefined) continue;
    if (results.length > 0) flush();
    const last = content.at(-1);
    if (last !== undefined && last.type === block.type) content[content.length - 1] = joined(last, block);
    else content.push(block);
  }
  flush();
  return entries;
}

/** A text or thinking; undefined: a part that is only for the screen. */
function toBlock(part: JsonObject): JsonObject | undefined {
  switch (part.kind) {
    case undefined:
    case "markdownContent": {
      const text = stringAt(part, "value") ?? textOf(part.content) ?? textOf(part.value);
      return text === undefined || text === "" ? undefined : { type: "text", text };
    }
    case "thinking": {
      const text = stringAt(part, "value") ?? textsAt(part, "value").join("\n");
      return text === "" ? undefined : { type: "thinking", thinking: text };
    }
    case "inlineReference": {
      const name = stringAt(part, "name") ?? nameOf(part.inlineReference);
      return name === undefined ? undefined : { type: "text", text: `\`${name}\`` };
    }
  }
  return undefined;
}

function joined(a: JsonObject, b: JsonObject): JsonObject {
  const key = a.type === "text" ? "text" : "thinking";
  return { ...a, [key]: `${String(a[key])}${String(b[key])}` };
}

/** The text of a Markdown value, or a text. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : isObject(value) ? stringAt(value, "value") : undefined;
}

/** The name of the file or symbol of a link in a text. */
function nameOf(reference: unknown): string | undefined {
  if (!isObject(reference)) return undefined;
  const path = stringAt(reference, "path") ?? stringAt(objectAt(reference, "uri") ?? {}, "path");
  return stringAt(reference, "name") ?? path?.split("/").at(-1);
}

/** A call as the screen shows it: its input is that of the details or of a terminal, if they have one. */
function toCall(part: JsonObject, id: string): JsonObject {
  const input = stringAt(objectAt(part, "resultDetails") ?? {}, "input");
  const command = objectAt(objectAt(part, "toolSpecificData") ?? {}, "commandLine");
  const line = command && (stringAt(command, "userEdited") ?? stringAt(command, "original"));
  const args = line !== undefined ? { command: line } : input === undefined ? {} : (parseJsonObject(input) ?? { input });
  return { type: "toolCall", id, name: stringAt(part, "toolId") ?? "unknown", arguments: args, vscode: part };
}

function toResult(part: JsonObject, toolCallId: string): JsonObject {
  const details = objectAt(part, "resultDetails") ?? {};
  const outputs: readonly unknown[] = Array.isArray(details.output) ? details.output : [];
  const texts = outputs.map((output) => (isObject(output) && output.isText !== false ? (stringAt(output, "value") ?? "") : ""));
  const text = texts.filter((one) => one !== "").join("\n");
  const shown = textOf(part.pastTenseMessage) ?? textOf(part.invocationMessage) ?? "";
  return resultPayload({ toolCallId, toolName: stringAt(part, "toolId"), content: text || shown, isError: details.isError === true });
}
