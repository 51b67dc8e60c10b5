import { Buffer } from "node:buffer";
import type { ImageRule } from "./known-models.js";

/** Tokens of an image (base64, without a `data:` prefix). One whose size cannot be read counts as much as one can. */
export function imageTokens(base64: string, rule: ImageRule): number {
  const size = imageSize(base64);
  switch (rule) {
    case "openai":
      return openaiTokens(size);
    case "anthropic":
      return anthropicTokens(size);
    case "gemini":
      return geminiTokens(size);
    case "largest":
      return Math.max(openaiTokens(size), anthropicTokens(size), geminiTokens(size));
  }
}

// OpenAI's documentation of vision, high detail: fit into 2,048 × 2,048, then the shorter side to 768; 170 for each tile
// of 512 × 512, and 85. At most 4 × 2 tiles.
const OPENAI_MOST = 85 + 170 * 8;

function openaiTokens(size: ImageSize | undefined): number {
  if (size === undefined) return OPENAI_MOST;
  const fit = Math.min(1, 2_048 / Math.max(size.width, size.height));
  const scale = fit * Math.min(1, 768 / (Math.min(size.width, size.height) * fit));
  const tiles = Math.ceil((size.width * scale) / 512) * Math.ceil((size.height * scale) / 512);
  return 85 + 170 * tiles;
}

// Anthropic's documentation of vision: width × height / 750, after the longer side is brought to 1,568 pixels and the
// whole to about 1,600 tokens.
const ANTHROPIC_MOST = 1_600;

function anthropicTokens(size: ImageSize | undefined): number {
  if (size === undefined) return ANTHROPIC_MOST;
  const scale = Math.min(1, 1_568 / Math.max(size.width, size.height));
  return Math.min(ANTHROPIC_MOST, Math.ceil((size.width * scale * size.height * scale) / 750));
}

// Google's documentation of tokens: 258 for an image of at most 384 × 384, else 258 for each tile of 768 × 768.
const GEMINI_TILE = 258;
/** Of an image whose size is not known: six tiles, as of a photograph of 2,304 × 1,536. */
const GEMINI_USUAL = 6 * GEMINI_TILE;

function geminiTokens(size: ImageSize | undefined): number {
  if (size === undefined) return GEMINI_USUAL;
  if (size.width <= 384 && size.height <= 384) return GEMINI_TILE;
  return Math.ceil(size.width / 768) * Math.ceil(size.height / 768) * GEMINI_TILE;
}

/** Width and height of an image, in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

// The size is in the first bytes; a JPEG may have a preview and color profiles before it.
const HEAD_CHARS = 350_000;

/** Reads the size from the header of an image; undefined: it is no PNG, GIF, WebP or JPEG, or the header is incomplete. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = Buffer.from(base64.slice(0, HEAD_CHARS), "base64");
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 3) !== "GIF") return undefined;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L":
      return { width: 1 + (bytes.readUInt16LE(21) & 0x3fff), height: 1 + ((bytes.readUInt32LE(21) >>> 14) & 0x3fff) };
    case "VP8X":
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
    default:
      return undefined;
  }
}

/** A JPEG is a chain of segments; the size is in the segment that starts a frame. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (isFrameStart(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    const length = bytes.readUInt16BE(at + 2);
    if (marker < 0xff00 || length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

function isFrameStart(marker: number): boolean {
  return marker >= 0xffc0 && marker <= 0xffcf && marker !== 0xffc4 && marker !== 0xffc8 && marker !== 0xffcc;
}
