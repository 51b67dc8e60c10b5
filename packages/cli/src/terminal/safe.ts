import { UNSEEN } from "@bough/session-core/view";

// Text of sessions is untrusted: control characters could move the cursor, hide text or change the terminal's state.

/** Characters that are all safe, found with a small class: ASCII, Latin letters, dashes, quotes, bullets, arrows, lines and blocks. */
const PLAIN = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25ff]*$/;

// Control characters (C0, DEL and C1), separators of lines and paragraphs, and what is not seen.
const UNSAFE = new RegExp(String.raw`[\u0000-\u001f\u007f-\u009f\u2028\u2029]|${UNSEEN}`, "gu");

/**
 * Replaces what a terminal would interpret or hide: control characters become their pictures (`␛`, `␊`), other invisible ones
 * their code points (`\u{202e}`). Idempotent.
 */
export function safe(text: string): string {
  if (PLAIN.test(text)) return text;
  return escapeStrayJoiners(text.toWellFormed().replace(UNSAFE, picture), picture);
}

/** The same for JSON text, with JSON escapes: parsing yields an equal value. */
export function safeJson(json: string): string {
  if (PLAIN.test(json)) return json;
  return escapeStrayJoiners(
    json.replace(UNSAFE, (found) => (found === "\n" ? found : jsonEscape(found))),
    jsonEscape,
  );
}

/** The lines of a text, each made safe; tabs become four spaces. */
export function safeLines(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/).map((line) => safe(line.replaceAll("\t", "    ")));
}

// Joiners are part of emoji sequences and of scripts such as Persian and Hindi. Elsewhere they are invisible. Few texts have one, and making
// the pattern takes some milliseconds.
function escapeStrayJoiners(text: string, escapeOne: (joiner: string) => string): string {
  if (!text.includes("\u200c") && !text.includes("\u200d")) return text;
  const stray = /(?<!(?!\p{Script=Latin})[\p{L}\p{M}]|[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)(?:\u200c|\u200d)/gu;
  return text.replace(stray, escapeOne);
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "\u2421" : `\\u{${code.toString(16)}}`;
}

function jsonEscape(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at += 1) text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}
