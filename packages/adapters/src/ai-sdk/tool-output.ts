import { inspect } from "node:util";
import { type ContentBlock, type EntryInput, toolResult } from "@bough/session-core";
import type { ProviderMetadata, ToolModelMessage } from "ai";
import { fileBlock, optionsMember, shownBlock, textBlock, toJson } from "./blocks.js";

type ToolPart = ToolModelMessage["content"][number];
/** The form of a tool's result that a model reads. */
export type ModelOutput = Extract<ToolPart, { type: "tool-result" }>["output"];

/** A result of a tool call. */
export interface ForeignResult {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The form that the model reads; undefined: it follows from `raw`. */
  readonly output?: ModelOutput | undefined;
  /** The value that the tool returned, which a page shows; undefined: it follows from `output`. */
  readonly raw?: { readonly value: unknown } | undefined;
  readonly providerExecuted?: boolean | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** The type of `content` of a stored result: text (the default), JSON, or `details`: a page shows `details` instead. */
type OutputType = "json" | "details";

/** Returns the form that the model reads of a result of a tool that has no `toModelOutput`. */
function defaultOutput(value: unknown): ModelOutput {
  return typeof value === "string" ? { type: "text", value } : { type: "json", value: JSON.parse(JSON.stringify(value ?? null)) };
}

/** The error of a tool as a model reads it. */
export function errorOutput(error: unknown): ModelOutput {
  return { type: "error-text", value: errorText(error) };
}

/** The text of an error as the SDK itself gives it: what a provider reports inside a stream, or a tool throws, may be an object. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === "string") return error;
  try {
    return JSON.stringify(error ?? undefined) ?? "unknown error";
  } catch {
    // A cycle or a BigInt, which JSON does not have.
    return inspect(error);
  }
}

/** The entry of a result. */
export function resultEntry(result: ForeignResult): EntryInput {
  const { toolCallId, toolName, raw, providerExecuted, providerMetadata } = result;
  const output = result.output ?? defaultOutput(raw?.value);
  const { content, isError, ...marks } = readOutput(output);
  const shown = raw === undefined || isShownBy(output, raw.value) ? {} : { outputType: "details", details: toJson(raw.value) };
  return toolResult(toolCallId, content, {
    toolName,
    isError,
    ...marks,
    ...shown,
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...optionsMember(providerMetadata),
  });
}

interface ReadOutput {
  readonly content: string | ContentBlock[];
  readonly isError: boolean;
  readonly outputType?: OutputType;
  readonly denied?: true;
}

const DENIED = "The user denied this call.";

function readOutput(output: ModelOutput): ReadOutput {
  switch (output.type) {
    case "text":
      return { content: output.value, isError: false };
    case "error-text":
      return { content: output.value, isError: true };
    case "json":
      return { content: JSON.stringify(output.value), isError: false, outputType: "json" };
    case "error-json":
      return { content: JSON.stringify(output.value), isError: true, outputType: "json" };
    case "execution-denied":
      return { content: output.reason ?? DENIED, isError: true, denied: true };
    case "content":
      return { content: output.value.map(contentBlock), isError: false };
  }
}

type OutputPart = Extract<ModelOutput, { type: "content" }>["value"][number];
/** A file as version 7 writes it. */
type FileOutput = { readonly type: "file"; readonly data: unknown } & Pick<
  Extract<OutputPart, { type: "file-data" }>,
  "mediaType" | "filename" | "providerOptions"
>;

function contentBlock(part: OutputPart | FileOutput): ContentBlock {
  switch (part.type) {
    case "text":
      return textBlock(part.text, part.providerOptions);
    case "media":
      return fileBlock(part.data, part.mediaType);
    case "image-data":
      return fileBlock(part.data, part.mediaType, { metadata: part.providerOptions });
    case "file":
    case "file-data":
      return fileBlock(part.data, part.mediaType, { filename: part.filename, metadata: part.providerOptions });
    case "file-url":
      return fileBlock(part.url, part.mediaType, { metadata: part.providerOptions });
    case "image-url":
      return fileBlock(part.url, "image/*", { metadata: part.providerOptions });
    default:
      return shownBlock(part);
  }
}

/** True if a page can show `output` instead of `raw`: they are equal. */
function isShownBy(output: ModelOutput, raw: unknown): boolean {
  if (output.type === "text") return output.value === raw;
  return output.type === "json" && JSON.stringify(output.value) === JSON.stringify(raw ?? null);
}
