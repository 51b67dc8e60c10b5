import { type ImageSize, imageSize } from "./image-size.js";
import type { ImageRule } from "./model-families.js";

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
