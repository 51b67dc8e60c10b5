// What a terminal obeys, hides or reorders instead of showing it. Text of sessions is untrusted (regression R168).

const PLAIN = /^[\x20-\x7e]*$/;

// C0, DEL and C1; soft hyphen and fillers; zero-width characters; bidi marks, embeddings and isolates; line and
// paragraph separators; tags and the variation selectors beyond the sixteen that emoji use, which can hide a whole text.
const OBEYED =
  /\u034f|[\u180b-\u180f]|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

// The joiners belong to emoji sequences and to scripts such as Persian and Hindi; after anything else they only hide.
const STRAY_JOINER = /(?<!(?!\p{Script=Latin})[\p{L}\p{M}]|[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)(?:\u200c|\u200d)/gu;

/**
 * Text that a terminal shows and does nothing else with: control characters become their pictures (`␛`, `␊`), other
 * invisible ones their numbers (`\u{202e}`). Doing it twice changes nothing.
 */
export function safe(text: string): string {
  if (PLAIN.test(text)) return text;
  return withoutStrayJoiners(text.toWellFormed().replace(OBEYED, visible), visible);
}

/** The same in JSON that stays equal when read: everything invisible is escaped as JSON escapes it. */
export function safeJson(json: string): string {
  if (PLAIN.test(json)) return json;
  return withoutStrayJoiners(
    json.replace(OBEYED, (found) => (found === "\n" ? found : escaped(found))),
    escaped,
  );
}

/** Several lines of text, each safe; tabs become spaces. */
export function safeLines(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/).map((line) => safe(line.replaceAll("\t", "    ")));
}

/** Compiling that expression takes some milliseconds, and hardly any text has a joiner. */
function withoutStrayJoiners(text: string, shown: (joiner: string) => string): string {
  return text.includes("\u200c") || text.includes("\u200d") ? text.replace(STRAY_JOINER, shown) : text;
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "\u2421" : `\\u{${code.toString(16)}}`;
}

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at += 1) text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}
