import type { Token } from "markdown-it";
import { type Line, type Span, type Style, styled } from "../terminal/line.js";

/** Inline content as lines, split at the written line breaks and not wrapped. `style` applies to all of it. */
export function inlineLines(tokens: readonly Token[], style?: Style): readonly Line[] {
  const writer = new InlineWriter(style);
  for (const token of tokens) writer.write(token);
  return writer.lines;
}

/** Writes the tokens of inline content, which open and close its styles. */
class InlineWriter {
  readonly lines: (string | Span)[][] = [[]];
  readonly #style: Style | undefined;
  #emphasized = 0;
  #struck = 0;
  /** The links that are open: where their text begins. */
  readonly #links: { readonly token: Token; text: string }[] = [];

  constructor(style: Style | undefined) {
    this.#style = style;
  }

  write(token: Token): void {
    switch (token.type) {
      case "strong_open":
      case "em_open":
        this.#emphasized += 1;
        return;
      case "strong_close":
      case "em_close":
        this.#emphasized -= 1;
        return;
      case "s_open":
        this.#struck += 1;
        this.#add("~~", this.#current);
        return;
      case "s_close":
        this.#add("~~", this.#current);
        this.#struck -= 1;
        return;
      case "code_inline":
        this.#add(token.content, this.#current ?? "code");
        return;
      case "softbreak":
      case "hardbreak":
        this.#add("\n", undefined);
        return;
      case "link_open":
        this.#links.push({ token, text: "" });
        return;
      case "link_close":
        this.#closeLink();
        return;
      case "image":
        this.#add(`[image${token.content === "" ? "" : `: ${token.content}`}] (${addressOf(token, "src")})`, "dim");
        return;
      default:
        this.#add(token.content.replace(/<br\s{0,9}\/?>/gi, "\n"), this.#current);
    }
  }

  get #current(): Style | undefined {
    if (this.#struck > 0) return "dim";
    return this.#style ?? (this.#emphasized > 0 ? "bold" : undefined);
  }

  #add(text: string, style: Style | undefined): void {
    const link = this.#links.at(-1);
    if (link !== undefined) link.text += text;
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) this.lines.push([]);
      if (line !== "") this.lines.at(-1)?.push(style === undefined ? line : styled(style, line));
    }
  }

  /** Adds the address of a link, unless it equals the text. */
  #closeLink(): void {
    const link = this.#links.pop();
    if (link === undefined || link.token.info === "auto") return;
    const address = addressOf(link.token, "href");
    if (address !== "" && address !== link.text && address !== `mailto:${link.text}`) this.#add(` (${address})`, "dim");
  }
}

function addressOf(token: Token, attribute: "href" | "src"): string {
  return String(token.attrGet(attribute) ?? "");
}
