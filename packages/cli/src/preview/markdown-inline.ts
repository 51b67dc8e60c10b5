import type { Token } from "marked";
import { type Line, type Span, type Style, styled } from "../terminal/line.js";
import { asMarkedToken } from "./markdown-lexer.js";

/** Deeper inline nesting is drawn as text. */
const MAX_DEPTH = 20;

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " " };

/** Inline content as lines, split at the written line breaks and not wrapped. `style` applies to all of it. */
export function inlineLines(tokens: readonly Token[], style?: Style): readonly Line[] {
  const lines: (string | Span)[][] = [[]];
  for (const piece of tokens.flatMap((token) => inlinePieces(token, style, 0))) {
    const [text, shape] = typeof piece === "string" ? [piece] : [piece.text, piece.style];
    for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
      if (at > 0) lines.push([]);
      if (line !== "") lines.at(-1)?.push(shape === undefined ? line : styled(shape, line));
    }
  }
  return lines;
}

function inlinePieces(given: Token, style: Style | undefined, depth: number): Line {
  const token = asMarkedToken(given);
  if (depth > MAX_DEPTH) return [withStyle(token.raw, style)];
  switch (token.type) {
    case "strong":
    case "em":
      return innerPieces(token.tokens, style ?? "bold", depth);
    case "del":
      return [styled("dim", `~~${token.text}~~`)];
    case "codespan":
      return [withStyle(token.text, style ?? "code")];
    case "br":
      return ["\n"];
    case "link":
      return [...innerPieces(token.tokens, style, depth), ...linkAddress(token.text, token.href)];
    case "image":
      return [styled("dim", `[image${token.text === "" ? "" : `: ${token.text}`}] (${token.href})`)];
    case "html":
      return [/^<br\s*\/?>$/i.test(token.raw) ? "\n" : withStyle(token.raw, style)];
    case "escape":
      return [withStyle(token.text, style)];
    case "text":
      return token.tokens === undefined ? [withStyle(decodeEntities(token.text), style)] : innerPieces(token.tokens, style, depth);
    default:
      return [withStyle(token.raw, style)];
  }
}

function innerPieces(tokens: readonly Token[], style: Style | undefined, depth: number): Line {
  return tokens.flatMap((token) => inlinePieces(token, style, depth + 1));
}

function withStyle(text: string, style: Style | undefined): string | Span {
  return style === undefined ? text : styled(style, text);
}

/** The address of a link, unless it equals the text. */
function linkAddress(text: string, href: string): Line {
  return text === href || `mailto:${text}` === href || `http://${text}` === href ? [] : [styled("dim", ` (${href})`)];
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}
