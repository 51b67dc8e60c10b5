import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from "marked";

/** Levels of lists and quotes that are read as such; what is deeper stays text. */
const MAX_DEPTH = 12;

/** Characters of markup in one paragraph; above it the time of the lexer grows with their square. */
const MAX_MARKUP = 500;

const CJK = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

// CommonMark wants a space or Latin punctuation beside emphasis that begins or ends with punctuation; these scripts have none.
const EMPHASIZED = /^(\*\*|\*)(?![\s*])((?:[^*`\\\n]|`[^`\n]{1,200}`){1,400})(?<!\s)\1(?!\*)/;

/** Marked's tokenizer, with a limit to nesting, and emphasis also beside CJK punctuation (regression R150). */
class BoundedTokenizer extends Tokenizer<string, string> {
  #depth = 0;

  override emStrong(src: string, maskedSrc: string, prevChar?: string): Tokens.Em | Tokens.Strong | undefined {
    const found = super.emStrong(src, maskedSrc, prevChar);
    if (found !== undefined) return found;
    const [raw, mark, text] = EMPHASIZED.exec(src) ?? [];
    if (raw === undefined || text === undefined || !CJK.test(text)) return undefined;
    const tokens = this.lexer.inlineTokens(text);
    return mark === "**" ? { type: "strong", raw, text, tokens } : { type: "em", raw, text, tokens };
  }

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#deeper(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.#deeper(() => super.list(src));
  }

  /** These two read what they hold with the same lexer; without an answer their lines are paragraphs. */
  #deeper<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

class BoundedLexer extends Lexer<string, string> {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (countMarkup(src) <= MAX_MARKUP) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src });
    return tokens;
  }
}

function countMarkup(src: string): number {
  let marks = 0;
  for (let at = 0; at < src.length; at += 1) if ("*_~[]`<".includes(src.charAt(at))) marks += 1;
  return marks;
}

/** The blocks of a Markdown text. Nesting and the cost of emphasis are bounded; what goes beyond stays text. */
export function lexMarkdown(text: string): readonly Token[] {
  const lexer = new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() });
  return lexer.lex(text);
}

/** A token by its type. Without extensions Marked makes no others. */
export function asMarkedToken(token: Token): MarkedToken {
  return token as MarkedToken;
}
