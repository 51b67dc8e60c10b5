import { isObject, type JsonObject, stringAt, without } from "../../source/narrow.js";
import { contentOf } from "./blocks.js";

/**
 * oh-my-pi's files that a person named with @: a custom message with their texts and images. What else was noted of
 * each file stays in `details.files`.
 */
export function fileMentionOf(message: JsonObject): JsonObject | undefined {
  const { files } = message;
  if (!Array.isArray(files) || !files.every(isObject)) return undefined;
  return {
    ...without(message, ["files"]),
    role: "custom",
    customType: "fileMention",
    content: contentOf(files.flatMap(blocksOfFile)),
    details: { files: files.map((file) => without(file, ["content", "image"])) },
  };
}

function blocksOfFile(file: JsonObject): readonly unknown[] {
  const text = { type: "text", text: `<file path="${stringAt(file, "path") ?? ""}">\n${stringAt(file, "content") ?? ""}\n</file>` };
  return file.image === undefined || file.image === null ? [text] : [text, file.image];
}
