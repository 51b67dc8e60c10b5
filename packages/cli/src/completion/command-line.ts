/** The words of a command line up to the cursor. */
export interface TypedLine {
  /** The finished words, without quotes. */
  readonly before: readonly string[];
  /** The word at the cursor without quotes, and as it was typed. */
  readonly current: string;
  readonly raw: string;
  /** The quote that is still open at the cursor. */
  readonly quote: "" | "'" | '"';
}

/**
 * Splits a line as a shell does: quotes and backslashes join, white space separates. The last word is the one at the cursor; it is empty
 * behind white space.
 *
 * @example
 * splitLine("bough tree 'Tabs in").current; // "Tabs in"
 */
export function splitLine(line: string): TypedLine {
  const words: string[] = [];
  let [current, raw, quote]: [string, string, TypedLine["quote"]] = ["", "", ""];
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === "" && /\s/.test(character)) {
      if (raw !== "") words.push(current);
      [current, raw] = ["", ""];
      continue;
    }
    raw += character;
    if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = "";
    else if (character === "\\" && quote !== "'" && at + 1 < line.length) {
      at += 1;
      raw += line.charAt(at);
      current += line.charAt(at);
    } else current += character;
  }
  return { before: words, current, raw, quote };
}

/** A text as one word for bash: inside the quote that is open at the cursor, or with backslashes. */
export function quoteForBash(text: string, quote: TypedLine["quote"]): string {
  switch (quote) {
    case "'":
      return text.replaceAll("'", "'\\''");
    case '"':
      return text.replace(/["\\$`]/g, "\\$&");
    case "":
      return text
        .replace(/[^\w@~%+=:,./-]/gu, (character) => (character.charCodeAt(0) < 0x80 ? `\\${character}` : character))
        .replace(/^~(?!\d)/, "\\~");
  }
}
