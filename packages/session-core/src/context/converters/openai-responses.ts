import { SESSION_CONTEXT } from "../../arguments/conversation.js";
import { checkArgument } from "../../arguments/rules.js";
import type { SessionContext } from "../context.js";
import { toolNameFor } from "./call-names.js";
import { OPENAI_NAME_LENGTH } from "./openai-chat.js";
import { dataUrl, imagesOf, plainText, withoutForeign } from "./parts.js";
import type { AnswerPart, ProjectedAnswer, ProjectedResult, SaidPart } from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";

/** Text or an image inside an input item. */
export type OpenAiResponsesPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: "auto" };

/** One item of the `input` of a Responses request; `arguments` is JSON text. */
export type OpenAiResponsesItem =
  | { readonly type: "message"; readonly role: "user"; readonly content: OpenAiResponsesPart[] }
  | { readonly type: "message"; readonly role: "assistant"; readonly content: string }
  | { readonly type: "function_call"; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string | OpenAiResponsesPart[] };

/** What a Responses request takes of a context; spread it into the request. */
export interface OpenAiResponsesInput {
  readonly instructions?: string;
  readonly input: OpenAiResponsesItem[];
}

/**
 * A context as `instructions` and `input` of the OpenAI Responses API.
 *
 * Reasoning items are left out: they hold only with the very item ids of the response they came in, and a context
 * may have been edited, cut or answered by another model since.
 *
 * @example
 * await openai.responses.create({ model, store: false, ...toOpenAiResponses(context) });
 */
export function toOpenAiResponses(context: SessionContext): OpenAiResponsesInput {
  checkArgument("context", context, SESSION_CONTEXT);
  const instructions = systemText(context);
  const input: OpenAiResponsesItem[] = [];
  for (const message of projectMessages(context.messages)) {
    if (message.role === "user") input.push({ type: "message", role: "user", content: message.parts.map(inputPart) });
    else input.push(...answerItems(message));
  }
  return instructions === undefined ? { input } : { instructions, input };
}

function inputPart(part: SaidPart): OpenAiResponsesPart {
  const known = withoutForeign(part);
  if (known.type === "text") return { type: "input_text", text: known.text };
  return { type: "input_image", image_url: dataUrl(known), detail: "auto" };
}

function answerItems(answer: ProjectedAnswer): readonly OpenAiResponsesItem[] {
  return [...answer.parts.flatMap(answerItem), ...answer.results.map(outputItem)];
}

function answerItem(part: AnswerPart): readonly OpenAiResponsesItem[] {
  switch (part.type) {
    case "text":
      return [{ type: "message", role: "assistant", content: part.text }];
    case "call": {
      const name = toolNameFor(part.name, OPENAI_NAME_LENGTH);
      return [{ type: "function_call", call_id: part.id, name, arguments: JSON.stringify(part.input) }];
    }
    case "image":
    case "thinking":
    case "foreign":
      return [];
  }
}

function outputItem(result: ProjectedResult): OpenAiResponsesItem {
  const output = imagesOf(result.parts).length === 0 ? plainText(result.parts) : result.parts.map(inputPart);
  return { type: "function_call_output", call_id: result.callId, output };
}
