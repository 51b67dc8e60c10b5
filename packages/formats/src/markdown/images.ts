import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { MarkdownImage } from "./markdown-writer.js";

// The first bytes of the types that browsers show. SVG is not among them, because it can contain programs.
const TYPES: readonly (readonly [extension: string, isType: (bytes: Buffer) => boolean])[] = [
  ["png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["jpg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
  ["webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
  ["avif", (bytes) => /^ftypavi[fs]/.test(bytes.toString("latin1", 4, 12))],
  ["bmp", (bytes) => bytes.toString("latin1", 0, 2) === "BM"],
];

/** An image by its base64; undefined: its first bytes are not those of a known type, whatever the session says of it. */
export function readImage(base64: string): MarkdownImage | undefined {
  const bytes = Buffer.from(base64, "base64");
  const extension = TYPES.find(([, isType]) => isType(bytes))?.[0];
  if (extension === undefined) return undefined;
  return { bytes, name: `${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.${extension}` };
}

/** An address for the link of an image: nothing in it ends the link. */
export function encodeAddress(path: string): string {
  return path
    .split(/[\\/]/)
    .map((part) => encodeURIComponent(part).replace(/[()]/g, (found) => (found === "(" ? "%28" : "%29")))
    .join("/");
}
