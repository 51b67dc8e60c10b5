import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from "marked";

/** Deeper lists and quotes are paragraphs. */
const MAX_DEPTH = 12;

/** Paragraphs with more markup characters are text: the time of the lexer grows with their square. */
const MAX_MARKUP = 500;

const CJK = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

// CommonMark requires a space or Latin punctuation next to emphasis that starts or ends with punctuation; CJK text has none.
const EMPHASIZED = /^(\*\*|\*)(?![\s*])((?:[^*`\\\n]|`[^`\n]{1,200}`){1,400})(?<!\s)\1(?!\*)/;

/** Marked's tokenizer with limited nesting, and with emphasis next to CJK punctuation. */
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

  /** Blocks are lexed recursively; if this returns undefined, their lines become paragraphs. */
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

/** Lexes Markdown with limits for nesting and emphasis; what exceeds them stays text. */
export function lexMarkdown(text: string): readonly Token[] {
  const lexer = new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() });
  return lexer.lex(text);
}

/** Narrows a token by its type. */
export function asMarkedToken(token: Token): MarkedToken {
  // Token also covers tokens of extensions, of which this lexer has none.
  return token as MarkedToken;
}
