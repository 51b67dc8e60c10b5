import { errorLines } from "../../facts/kinds/error-lines.js";
import { rulesIn } from "../../facts/kinds/rules.js";
import { proseOf } from "../../facts/text/prose.js";
import { redact } from "../../text/redact.js";
import { MARKER } from "./outline.js";
import { safeLine } from "./safe-line.js";

const LINE_CHARS = 240;
const CONVERSATION = /<conversation>\n([\s\S]*?)\n<\/conversation>/;

/**
 * An extract of a text that is all there is to go by: its first lines, the rules and errors in it, and its last lines, at
 * most `maxChars` UTF-16 code units. Where a conversation stands in its tag, only of that. Secrets are masked. Linear.
 */
export function extractPrompt(prompt: string, maxChars: number): string {
  const text = redact(CONVERSATION.exec(prompt)?.[1] ?? prompt);
  const lines = proseOf(text)
    .split("\n")
    .map((line) => safeLine(line, LINE_CHARS))
    .filter((line) => line !== "");
  const telling = [...rulesIn(proseOf(text)), ...errorLines(text, false)].map((line) => safeLine(line, LINE_CHARS));
  const room = Math.max(0, maxChars - MARKER.length - 2);
  const head = take(lines, room * 0.3);
  const kept = take([...new Set(telling)], room * 0.25);
  const tail = take(lines.slice(head.length).reverse(), room * 0.4).reverse();
  const body = [...head, ...kept.filter((line) => !head.includes(line) && !tail.includes(line)), ...tail];
  return body.length === 0 ? safeLine(text, maxChars) : [MARKER, "", ...body.map((line) => `- ${line}`)].join("\n");
}

function take(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    left -= line.length + 3;
    if (left < 0) break;
    taken.push(line);
  }
  return taken;
}
