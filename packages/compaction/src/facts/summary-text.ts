import type { Fact } from "./fact.js";
import { isRule } from "./kinds/rules.js";
import { keyWords, shareOf } from "./text/key-words.js";

/** Share of its words that a rule, an error or a request must have in common with a summary that says it. */
const ENOUGH = { rule: 0.6, error: 0.7, request: 0.6 } as const;
/** Of a long command the start is enough: summaries shorten the rest. In UTF-16 code units. */
const COMMAND_CHARS = 60;
/** Lines that are read as one passage: a rule may be broken over two. */
const PASSAGE_LINES = 2;
/** Beside the words that make a sentence a rule, those with which a summary says the same. */
const FORBIDS_OR_COMMANDS =
  /\b(?:no|not|without|only|avoid|keep|require[sd]?|forbidden|wants?|should|has to|have to|needs? to|rules?|constraints?|instead of|rather than)\b|n['’]t\b|[^\x00-\x7f]/i;

/** A passage of a summary. */
interface Passage {
  readonly words: ReadonlySet<string>;
  readonly commands: boolean;
}

/** A summary, read once so that many facts can be looked up in it. */
export class SummaryText {
  /** White space as one space, without marks of Markdown. */
  readonly #plain: string;
  readonly #lower: string;
  readonly #words: ReadonlySet<string>;
  readonly #passages: readonly Passage[];
  /** How many of the files end in these parts. */
  readonly #endings = new Map<string, number>();

  constructor(summary: string, facts: readonly Fact[]) {
    this.#plain = plain(summary);
    this.#lower = this.#plain.toLowerCase();
    this.#words = keyWords(summary);
    this.#passages = passagesOf(summary);
    for (const { kind, text } of facts) {
      if (kind === "file") for (const end of endingsOf(text)) this.#endings.set(end, (this.#endings.get(end) ?? 0) + 1);
    }
  }

  /** Whether the summary says it. */
  says({ kind, text }: Fact): boolean {
    switch (kind) {
      case "file":
        return endingsOf(text).some((end) => this.#endings.get(end) === 1 && this.#names(end));
      case "command":
        return this.#plain.includes(plain(text).slice(0, COMMAND_CHARS).trimEnd().replace(/…$/, ""));
      case "identifier":
        return hasWhole(this.#plain, plain(text));
      case "number":
        return hasWhole(withoutSeparators(this.#lower), withoutSeparators(text.toLowerCase()));
      case "error":
        return this.#lower.includes(plain(text).toLowerCase()) || this.#hasWords(text, ENOUGH.error);
      case "request":
        return this.#lower.includes(plain(text).toLowerCase()) || shareOf(keyWords(text), this.#words) >= ENOUGH.request;
      case "rule":
        return this.#lower.includes(plain(text).toLowerCase()) || this.#saysRule(text);
    }
  }

  #names(path: string): boolean {
    return hasWhole(this.#lower, path.toLowerCase(), IN_A_NAME);
  }

  #hasWords(text: string, enough: number): boolean {
    const wanted = keyWords(text);
    return wanted.size > 0 && this.#passages.some(({ words }) => shareOf(wanted, words) >= enough);
  }

  #saysRule(rule: string): boolean {
    const wanted = keyWords(rule);
    // "Never do that" has no word of its own to look for.
    if (wanted.size === 0) return false;
    return this.#passages.some(({ words, commands }) => commands && shareOf(wanted, words) >= ENOUGH.rule);
  }
}

function plain(text: string): string {
  return text
    .replace(/[`*"“”]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function passagesOf(summary: string): readonly Passage[] {
  const lines = summary.split("\n").filter((line) => line.trim() !== "");
  const starts = Math.max(1, lines.length - PASSAGE_LINES + 1);
  return Array.from({ length: starts }, (_one, at) => {
    const text = lines.slice(at, at + PASSAGE_LINES).join(" ");
    return { words: keyWords(text), commands: isRule(text) || FORBIDS_OR_COMMANDS.test(text) };
  });
}

/** The last part of a path, the last two, and so on up to the whole. */
function endingsOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_part, at) => parts.slice(parts.length - 1 - at).join("/"));
}

function withoutSeparators(text: string): string {
  return text.replace(/(\d)[,\u202f\u00a0'](?=\d{3})/g, "$1").replace(/(\d)[ \u00a0-](?=[\p{L}%°€µ])/gu, "$1");
}

const IN_A_WORD = /[\p{L}\p{N}_]/u;
/** A dot or dash before a name belongs to it: `lexer.ts` is not in `old-lexer.ts`. */
const IN_A_NAME = /[\p{L}\p{N}_.-]/u;

/** Whether `wanted` stands in a text and is not part of a longer word. Linear. */
function hasWhole(text: string, wanted: string, beforeIn: RegExp = IN_A_WORD): boolean {
  if (wanted === "") return false;
  const wordFirst = IN_A_WORD.test(wanted.charAt(0));
  const wordLast = IN_A_WORD.test(wanted.charAt(wanted.length - 1));
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const startsWord = !wordFirst || !beforeIn.test(text.charAt(at - 1));
    const endsWord = !wordLast || !IN_A_WORD.test(text.charAt(at + wanted.length));
    if (startsWord && endsWord) return true;
  }
  return false;
}
