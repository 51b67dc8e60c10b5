import type { Token } from "marked";
import { type Line, type Span, type Style, styled } from "../terminal/line.js";
import { known } from "./markdown-lexer.js";

/** Emphasis in emphasis in emphasis: below this it is text. */
const MAX_DEPTH = 20;

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " " };

/** Text with its emphasis, in the lines in which it was written; not wrapped yet. `style`: what all of it has. */
export function inlineLines(tokens: readonly Token[], style?: Style): readonly Line[] {
  const lines: (string | Span)[][] = [[]];
  for (const piece of tokens.flatMap((token) => pieces(token, style, 0))) {
    const [text, shape] = typeof piece === "string" ? [piece] : [piece.text, piece.style];
    for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
      if (at > 0) lines.push([]);
      if (line !== "") lines.at(-1)?.push(shape === undefined ? line : styled(shape, line));
    }
  }
  return lines;
}

function pieces(given: Token, style: Style | undefined, depth: number): Line {
  const token = known(given);
  if (depth > MAX_DEPTH) return [inStyle(token.raw, style)];
  switch (token.type) {
    case "strong":
    case "em":
      return inner(token.tokens, style ?? "bold", depth);
    case "del":
      return [styled("dim", `~~${token.text}~~`)];
    case "codespan":
      return [inStyle(token.text, style ?? "code")];
    case "br":
      return ["\n"];
    case "link":
      return [...inner(token.tokens, style, depth), ...addressOf(token.text, token.href)];
    case "image":
      return [styled("dim", `[image${token.text === "" ? "" : `: ${token.text}`}] (${token.href})`)];
    case "html":
      return [/^<br\s*\/?>$/i.test(token.raw) ? "\n" : inStyle(token.raw, style)];
    case "escape":
      return [inStyle(token.text, style)];
    case "text":
      return token.tokens === undefined ? [inStyle(decoded(token.text), style)] : inner(token.tokens, style, depth);
    default:
      return [inStyle(token.raw, style)];
  }
}

function inner(tokens: readonly Token[], style: Style | undefined, depth: number): Line {
  return tokens.flatMap((token) => pieces(token, style, depth + 1));
}

function inStyle(text: string, style: Style | undefined): string | Span {
  return style === undefined ? text : styled(style, text);
}

/** Where a link leads, unless its text says it. */
function addressOf(text: string, href: string): Line {
  return text === href || `mailto:${text}` === href || `http://${text}` === href ? [] : [styled("dim", ` (${href})`)];
}

function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}
