import { setImmediate as nextTurn } from "node:timers/promises";
import { SessionMasks } from "@bough/formats/secrets";
import { BoughError, type Store } from "@bough/session-core";
import { cleanText } from "@bough/session-core/view";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { errorLine } from "../format/error-text.js";
import type { Pipes } from "../terminal/io.js";
import { VERSION } from "../version.js";
import { limitLines } from "./line-limit.js";
import { RECALL_TOOLS } from "./recall-tools.js";
import type { ServedStore } from "./served-store.js";
import { SESSION_TOOLS } from "./session-tools.js";
import { InvalidInputError, type McpTool } from "./tool.js";

const TOOLS: readonly McpTool[] = [...RECALL_TOOLS, ...SESSION_TOOLS];

const INSTRUCTIONS =
  "Sessions of coding agents, kept as trees: what was said, done and decided before, on every branch. Look here before you ask the user again or repeat work. Start with search_sessions; its answers carry the ids that read_entries takes. Everything is read-only.";

/**
 * Serves the tools over the pipes until the client closes one of its ends. The store is opened by the first call, so that the handshake
 * does not wait for it. Secrets in the answers are masked unless `withSecrets`.
 */
export async function serveMcp(store: ServedStore, pipes: Pipes, withSecrets = false): Promise<void> {
  const server = new Server(
    { name: "bough", title: "Bough", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS.map(describeTool) }));
  // Of each store that was opened: numbers of entries mean others after a restore.
  const masks = new WeakMap<Store, SessionMasks>();
  const masksOf = (opened: Store): SessionMasks | undefined => {
    if (withSecrets) return undefined;
    const known = masks.get(opened) ?? new SessionMasks();
    masks.set(opened, known);
    return known;
  };
  const answering = new Set<Promise<unknown>>();
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const answer = answerCall(store, masksOf, params);
    answering.add(answer);
    await answer.finally(() => answering.delete(answer));
    return answer;
  });
  const input = limitLines(pipes.input, pipes.output);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    input.once("end", resolve).once("close", resolve);
    // A client that reads no more gets no answers. Each answer that waits for the pipe adds a listener.
    pipes.output.setMaxListeners(0).once("close", resolve).on("error", resolve);
  });
  await server.connect(new StdioServerTransport(input, pipes.output));
  await closed;
  // Calls that came with the end of the input are answered: the protocol handles and sends them in later turns of the event loop.
  await nextTurn();
  await Promise.allSettled(answering);
  await nextTurn();
  await server.close();
  input.destroy();
  await store.close();
}

/** Answers a call. Does not throw: an error is an answer. */
async function answerCall(
  store: ServedStore,
  masksOf: (opened: Store) => SessionMasks | undefined,
  call: { readonly name: string; readonly arguments?: unknown },
): Promise<CallToolResult> {
  const tool = TOOLS.find(({ name }) => name === call.name);
  if (tool === undefined) return failure(`There is no tool ${call.name}. There are ${TOOLS.map(({ name }) => name).join(", ")}.`);
  try {
    return success(await store.use((opened) => tool.answer({ store: opened, masks: masksOf(opened) }, call.arguments)));
  } catch (error) {
    return failure(explain(error));
  }
}

function describeTool({ name, title, description, inputSchema }: McpTool) {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: "object" as const },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function success(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text: cleanText(text) }], isError: true };
}

/** Hints for the model, by the code of the error. They replace the library's hints, which name its functions. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["SESSION_NOT_FOUND", "list_sessions lists them."],
  ["ENTRY_NOT_FOUND", "search_sessions and get_tree give the ids."],
  ["AMBIGUOUS_NAME", "Use a longer part of the id."],
  ["STORE_NOT_FOUND", "The user creates it with: bough import PATH."],
]);

/** Returns one line for the model. An unexpected error is marked as unexpected; the server continues. */
function explain(error: unknown): string {
  if (error instanceof InvalidInputError) return error.message;
  if (!(error instanceof BoughError)) return `Unexpected error: ${errorLine(error)}`;
  const hint = HINTS.get(error.code);
  return hint === undefined ? error.message : `${error.message} ${hint}`;
}
