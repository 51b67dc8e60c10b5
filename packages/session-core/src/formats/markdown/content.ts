import type { ContentBlock, ImageBlock } from "../../entry/block.js";
import { authoredText } from "./authored-text.js";
import type { Scribe } from "./scribe.js";
import { escapedLine } from "./visible.js";

/** What somebody said, block by block in its order (regression R146). */
export function contentSections(content: string | readonly ContentBlock[], scribe: Scribe): readonly string[] {
  if (typeof content === "string") return words(content);
  return content.flatMap((block) => (block.type === "text" ? words(block.text) : notedBlock(block, scribe)));
}

function words(text: string): readonly string[] {
  const written = authoredText(text);
  return written === "" ? [] : [written];
}

/** A line in place of a block that a text cannot hold. */
export function notedBlock(block: Exclude<ContentBlock, { type: "text" }>, scribe: Scribe): readonly string[] {
  if (block.type === "image") {
    scribe.omitted.count("image");
    return [`*[image: ${escapedLine(block.mimeType)}, ${sizeOf(block)}]*`];
  }
  scribe.omitted.count("block");
  return [`*[${escapedLine(block.originalType)}]*`];
}

// Four characters of base64 are three bytes.
function sizeOf(image: ImageBlock): string {
  const bytes = Math.floor((image.data.replace(/=+$/, "").length * 3) / 4);
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000).toLocaleString("en-US")} kB`;
}
