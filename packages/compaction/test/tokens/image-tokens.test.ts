import { describe, expect, test } from "vitest";
import { imageSize, imageTokens } from "../../src/tokens/image-tokens.js";
import { findModelFamily } from "../../src/tokens/known-models.js";

/** The first bytes of images of a size; what follows no counter reads. */
const HEADS: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  PNG: (width, height) => {
    const bytes = Buffer.alloc(33);
    Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  },
  GIF: (width, height) => {
    const bytes = Buffer.alloc(13);
    bytes.write("GIF89a", "latin1");
    bytes.writeUInt16LE(width, 6);
    bytes.writeUInt16LE(height, 8);
    return bytes;
  },
  "JPEG behind a thumbnail": (width, height) => {
    const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 3, 1, 0x11, 0, 2, 0x11, 1]);
    const profile = Buffer.alloc(60_002);
    profile.writeUInt16BE(0xffe1, 0);
    profile.writeUInt16BE(60_000, 2);
    return Buffer.concat([Buffer.from([0xff, 0xd8]), profile, frame, Buffer.alloc(20)]);
  },
  "WebP, lossy": (width, height) => {
    const bytes = Buffer.alloc(40);
    bytes.write("RIFF....WEBPVP8 ", "latin1");
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
    return bytes;
  },
  "WebP, extended": (width, height) => {
    const bytes = Buffer.alloc(40);
    bytes.write("RIFF....WEBPVP8X", "latin1");
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
    return bytes;
  },
};

const image = (width: number, height: number) => (HEADS["PNG"]?.(width, height) ?? Buffer.alloc(0)).toString("base64");

describe("the size of an image", () => {
  test.each(Object.entries(HEADS))("is read from a %s", (_name, head) => {
    expect(imageSize(head(1_024, 513).toString("base64"))).toEqual({ width: 1_024, height: 513 });
  });

  test.each(["", "AAAA", Buffer.from("%PDF-1.7 and so on, long enough to be one").toString("base64"), image(0, 0)])(
    "is not known of %j",
    (data) => {
      expect(imageSize(data)).toBeUndefined();
    },
  );
});

describe("tokens of an image", () => {
  test.each([
    // 1,024 × 1,024 is brought to 768 × 768: four tiles.
    ["openai", 1_024, 1_024, 85 + 4 * 170],
    // 2,048 × 4,096 is brought to 1,024 × 2,048 and then 768 × 1,536: six tiles. Both from OpenAI's documentation.
    ["openai", 2_048, 4_096, 85 + 6 * 170],
    ["openai", 400, 400, 85 + 170],
    ["anthropic", 1_000, 750, 1_000],
    ["anthropic", 8_000, 8_000, 1_600],
    ["gemini", 384, 384, 258],
    ["gemini", 1_536, 1_000, 4 * 258],
  ] as const)("%s: %i × %i", (rule, width, height, tokens) => {
    expect(imageTokens(image(width, height), rule)).toBe(tokens);
  });

  test("of an unknown provider are those of the rule that gives the most", () => {
    const one = image(1_000, 750);
    const all = (["openai", "anthropic", "gemini"] as const).map((rule) => imageTokens(one, rule));
    expect(imageTokens(one, "largest")).toBe(Math.max(...all));
  });

  test("of an unreadable image are the maximum", () => {
    expect(imageTokens("AAAA", "anthropic")).toBe(imageTokens(image(9_000, 9_000), "anthropic"));
  });
});

describe("the image rule of a model", () => {
  test.each([
    ["anthropic", { provider: "openrouter", modelId: "claude-sonnet-4-5" }],
    ["gemini", { provider: "google", modelId: "gemini-2.5-pro" }],
    ["openai", { provider: "openai", modelId: "gpt-5" }],
    ["openai", { modelId: "o3" }],
    ["largest", { provider: "ollama", modelId: "qwen3" }],
    ["largest", null],
  ] as const)("is %s for %j", (rule, model) => {
    expect(findModelFamily(model).imageRule).toBe(rule);
  });
});
