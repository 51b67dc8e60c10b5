import { Buffer } from "node:buffer";
import type { FileBlock } from "@bough/session-core";
import { describeFile } from "@bough/session-core/view";
import { imageTokens } from "./image-tokens.js";
import type { ImageRule } from "./known-models.js";
import type { TokenCounter } from "./token-counter.js";

/**
 * Tokens of a file block, by its type: a PDF by its pages, sound and video by their length, an image as an image, a text by its
 * words. Of a file by URL only the type is known, so it counts as a file of usual size. Files of other types count as text of their
 * bytes. Linear in the content.
 */
export function fileTokens(counter: TokenCounter, file: FileBlock, rule: ImageRule): number {
  const frame = counter.count(describeFile(file));
  const type = file.mediaType.toLowerCase();
  if (type.startsWith("image/")) return frame + imageTokens(file.data ?? "", rule);
  if (type.startsWith("audio/")) return frame + Math.ceil(soundSeconds(file.data) * SOUND_TOKENS_PER_SECOND[rule]);
  if (type.startsWith("video/")) return frame + Math.ceil(videoSeconds(file.data) * VIDEO_TOKENS_PER_SECOND[rule]);
  if (type.startsWith("application/pdf")) return frame + pdfPages(file.data) * PAGE_TOKENS[rule];
  if (file.data === undefined) return frame + USUAL_TEXT_TOKENS;
  if (/^text\/|[/+](json|xml|yaml)\b/.test(type)) return frame + counter.count(Buffer.from(file.data, "base64").toString("utf8"));
  return frame + Math.ceil(byteLength(file.data) / 3);
}

/** Of a text by URL. */
const USUAL_TEXT_TOKENS = 4_000;

// Anthropic's documentation of PDFs: 1,500 to 3,000 tokens a page, its image included. OpenAI sends the text and an image of each
// page. Google's documentation: 560 for a page at the usual resolution, without a charge for its text.
const PAGE_TOKENS: Readonly<Record<ImageRule, number>> = { anthropic: 3_000, openai: 2_000, gemini: 560, largest: 3_000 };

/** Bytes of a page, and pages of a PDF, where the pages cannot be counted. */
const PAGE_BYTES = 50_000;
const USUAL_PAGES = 10;

/** The pages of a PDF (base64): the largest count of its page trees, or its page objects; by its size if both are compressed. */
export function pdfPages(base64: string | undefined): number {
  if (base64 === undefined) return USUAL_PAGES;
  const content = Buffer.from(base64, "base64").toString("latin1");
  let pages = 0;
  for (const { index } of content.matchAll(/\/Type\s*\/Pages\b/g)) pages = Math.max(pages, countNear(content, index));
  // A tree with a long list of children is not recognized above.
  pages = Math.max(pages, content.match(/\/Type\s*\/Page\b/g)?.length ?? 0);
  return pages > 0 ? pages : Math.max(1, Math.ceil(content.length / PAGE_BYTES));
}

/** The `/Count` of the object around `at`, as far as 400 characters away; 0 if there is none. */
function countNear(content: string, at: number): number {
  const before = content.slice(Math.max(0, at - 400), at);
  const object = `${before.slice(before.lastIndexOf("<<") + 1)}${content.slice(at, at + 400).split("endobj", 1)[0] ?? ""}`;
  return Number(/\/Count\s+(\d{1,6})\b/.exec(object)?.[1] ?? 0);
}

// Google's documentation of tokens: 32 for a second of sound; OpenAI's documentation of audio: 10. Anthropic takes none.
const SOUND_TOKENS_PER_SECOND: Readonly<Record<ImageRule, number>> = { anthropic: 0, openai: 10, gemini: 32, largest: 32 };

// Google's documentation of tokens: 258 for the frame of a second of video and 32 for its sound. The others take none.
const VIDEO_TOKENS_PER_SECOND: Readonly<Record<ImageRule, number>> = { anthropic: 0, openai: 0, gemini: 290, largest: 290 };

/** Of a sound or a video by URL. */
const USUAL_SECONDS = 60;
/** Compressed speech: 64 kbit/s. A better quality has fewer seconds in the same bytes, so the count is rather too high. */
const SOUND_BYTES_PER_SECOND = 8_000;
/** Video of low quality: 1 Mbit/s. */
const VIDEO_BYTES_PER_SECOND = 125_000;

function soundSeconds(base64: string | undefined): number {
  return base64 === undefined ? USUAL_SECONDS : byteLength(base64) / (waveBytesPerSecond(base64) ?? SOUND_BYTES_PER_SECOND);
}

function videoSeconds(base64: string | undefined): number {
  return base64 === undefined ? USUAL_SECONDS : byteLength(base64) / VIDEO_BYTES_PER_SECOND;
}

/** The byte rate in the header of a WAV file; undefined for other files. */
function waveBytesPerSecond(base64: string): number | undefined {
  const head = Buffer.from(base64.slice(0, 64), "base64");
  if (head.length < 32 || head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE") return undefined;
  const rate = head.readUInt32LE(28);
  return rate > 0 ? rate : undefined;
}

function byteLength(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
