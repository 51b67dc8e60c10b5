import { describe, expect, test } from "vitest";
import { toAiSdk } from "../../../src/context/converters/ai-sdk.js";
import { toAnthropic } from "../../../src/context/converters/anthropic.js";
import { toOpenAiChat } from "../../../src/context/converters/openai-chat.js";
import { toOpenAiResponses } from "../../../src/context/converters/openai-responses.js";
import { describeFile, previewOf, searchableText } from "../../../src/entry/text.js";
import { assistant, call, contextOf, file, image, PIXEL, result, text, user } from "./contexts.js";

const PDF = file({});
const SOUND = file({ mediaType: "audio/mpeg", filename: "memo.mp3" });
const TABLE = file({ mediaType: "text/csv", filename: "a.csv", data: Buffer.from("a,b\n1,2").toString("base64") });
const BY_URL = file({ data: undefined, url: "https://example.org/plan.pdf", filename: undefined });
const PICTURE = file({ mediaType: "image/png", data: undefined, url: "https://example.org/a.png", filename: undefined });
const CLIP = file({ mediaType: "video/mp4", filename: "clip.mp4" });

const line = (name: string) => `[The file ${name} that cannot be shown here]`;
const CLIP_LINE = line("clip.mp4 (video/mp4)");

describe("a file that a person attached", () => {
  test("goes to OpenAI's chat completions as a file, a sound or an image; other files are named", () => {
    const [message] = toOpenAiChat(contextOf([user([text("see"), PDF, SOUND, PICTURE, CLIP, BY_URL])]));
    expect(message?.content).toEqual([
      { type: "text", text: "see" },
      { type: "file", file: { filename: "plan.pdf", file_data: "data:application/pdf;base64,aGk=" } },
      { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
      { type: "image_url", image_url: { url: "https://example.org/a.png" } },
      { type: "text", text: CLIP_LINE },
      { type: "text", text: line("https://example.org/plan.pdf (application/pdf)") },
    ]);
  });

  test("goes to the Responses API as a file, also by its URL", () => {
    const [message] = toOpenAiResponses(contextOf([user([PDF, BY_URL, PICTURE, SOUND])])).input;
    expect(message).toMatchObject({
      content: [
        { type: "input_file", filename: "plan.pdf", file_data: "data:application/pdf;base64,aGk=" },
        { type: "input_file", file_url: "https://example.org/plan.pdf" },
        { type: "input_image", image_url: "https://example.org/a.png", detail: "auto" },
        { type: "input_text", text: line("memo.mp3 (audio/mpeg)") },
      ],
    });
  });

  test("goes to Anthropic as a document, texts included", () => {
    const { messages } = toAnthropic(contextOf([user([PDF, TABLE, BY_URL, PICTURE, CLIP])]));
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: "aGk=" }, title: "plan.pdf" },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "a,b\n1,2" }, title: "a.csv" },
          { type: "document", source: { type: "url", url: "https://example.org/plan.pdf" } },
          { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
          { type: "text", text: CLIP_LINE },
        ],
      },
    ]);
  });
});

describe("a file that a tool returned", () => {
  const context = contextOf([assistant([call("c1")], "openai"), result("c1", [PDF])]);

  test("is inside the result where the format allows it", () => {
    expect(toOpenAiResponses(context).input.at(-1)).toMatchObject({ output: [{ type: "input_file", filename: "plan.pdf" }] });
    expect(toAnthropic(context).messages.at(-1)).toMatchObject({ content: [{ type: "tool_result", content: [{ type: "document" }] }] });
  });

  test("follows the result where a result is text", () => {
    expect(toOpenAiChat(context).slice(1)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "(see the file that follows)" },
      {
        role: "user",
        content: [
          { type: "text", text: "File returned by the tool read:" },
          { type: "file", file: { filename: "plan.pdf", file_data: "data:application/pdf;base64,aGk=" } },
        ],
      },
    ]);
    const failed = contextOf([assistant([call("c1")]), result("c1", [text("broken"), PDF, CLIP], true)]);
    expect(toAnthropic(failed).messages.at(-1)).toMatchObject({
      content: [{ type: "tool_result", is_error: true, content: [{ text: `broken\n${CLIP_LINE}` }] }, { type: "document" }],
    });
  });

  test("is named where the provider does not take its type", () => {
    const clip = contextOf([assistant([call("c1")]), result("c1", [CLIP])]);
    expect(toOpenAiChat(clip).at(-1)).toEqual({ role: "tool", tool_call_id: "c1", content: CLIP_LINE });
    expect(toOpenAiResponses(clip).input.at(-1)).toMatchObject({ output: CLIP_LINE });
  });
});

describe("a file that a model made", () => {
  test("is named, because no format takes it back", () => {
    const context = contextOf([user("sing"), assistant([text("here"), SOUND], "openai"), user("again")]);
    const named = line("memo.mp3 (audio/mpeg)");
    expect(toOpenAiChat(context)[1]).toEqual({ role: "assistant", content: `here\n${named}` });
    expect(toOpenAiResponses(context).input[2]).toMatchObject({ role: "assistant", content: named });
    expect(toAnthropic(context).messages[1]).toMatchObject({ role: "assistant", content: [{ text: "here" }, { text: named }] });
  });
});

test.each(["https://[plan.pdf", "https://host:99999/plan.pdf"])("a file with the address %s, which is no URL, is named", (url) => {
  const context = contextOf([user([file({ data: undefined, url, filename: undefined })])]);
  const named = { type: "text", text: line(`${url} (application/pdf)`) };
  expect(toAiSdk(context).messages).toEqual([{ role: "user", content: [named] }]);
  expect(toAnthropic(context).messages).toEqual([{ role: "user", content: [named] }]);
  expect(toOpenAiResponses(context).input).toMatchObject([{ content: [{ type: "input_text", text: named.text }] }]);
});

test("a file with the type of an image is an image", () => {
  const context = contextOf([user([file({ mediaType: "image/jpg", data: PIXEL })])]);
  expect(toOpenAiChat(context)).toEqual(toOpenAiChat(contextOf([user([image("image/jpeg")])])));
});

describe("a file in the tree and in the search", () => {
  const entry = { type: "message", message: { role: "user", content: [PDF, SOUND] } } as const;

  test("is found by its name and type, never by its content", () => {
    expect(searchableText({ ...entry, message: { ...entry.message, content: [PDF, SOUND] } })).toBe(
      "plan.pdf (application/pdf)\nmemo.mp3 (audio/mpeg)",
    );
  });

  test("is shown by its name and type", () => {
    expect(previewOf({ ...entry, message: { ...entry.message, content: [PDF, SOUND] } })).toBe(
      "[plan.pdf (application/pdf)] [memo.mp3 (audio/mpeg)]",
    );
    expect(describeFile(BY_URL)).toBe("https://example.org/plan.pdf (application/pdf)");
  });
});
