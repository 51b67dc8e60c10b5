import { type EntryId, type EntryInput, InvalidArgumentError, type NewSession, type Session, type Store } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isObject, newEntryId } from "@bough/session-core/wire";
import type { UIMessage } from "ai";
import { continueAnswer } from "./continue-answer.js";
import { fromUiMessages } from "./from-ui-messages.js";

/** A request of a chat page, stored. */
export interface ReceivedChat {
  readonly session: Session;
  /** The id for the answer, or that of the answer to continue: give it to `recordSteps` and to `toUIMessageStreamResponse`. */
  readonly answerId: EntryId;
}

const STORE = rules.withMethods("a store", "openOrCreateSession");

/**
 * Stores what a chat page sends (`useChat` with `DefaultChatTransport`): the session has the id of the chat and is created by the
 * first request. A new message goes below what the page shows; an edited message and a regenerated answer become siblings of
 * the old ones, so that nothing is overwritten. Only the newest message of the request is stored, and only if it is a user's. If it is
 * the newest answer, the parts that the page added to it are stored: outputs of tools that run on the page, and answers to approvals.
 * The model then continues that answer under its id.
 *
 * @param session What a new session gets, for example `{ metadata: { owner } }`. Check the owner of an existing one yourself.
 * @throws {InvalidArgumentError} the body is not a request of a chat page.
 * @throws {EntryNotFoundError} `messageId` names no entry of the session.
 * @example
 * const { session, answerId } = await receiveChat(store, await request.json());
 * const result = streamText({ model, ...toAiSdk(await session.context()), ...recordSteps(session, { id: answerId }) });
 * return result.toUIMessageStreamResponse({ generateMessageId: () => answerId, consumeSseStream: consumeStream });
 */
export async function receiveChat(store: Store, body: unknown, session: Omit<NewSession, "id"> = {}): Promise<ReceivedChat> {
  rules.checkArgument("store", store, STORE);
  const request = readRequest(body);
  const opened = await store.openOrCreateSession(request.id, session);
  if (request.trigger === "regenerate-message") await goToQuestion(opened, request);
  else {
    const last = request.messages.at(-1);
    if (last?.role === "assistant") {
      await continueAnswer(opened, last);
      return { session: opened, answerId: last.id };
    }
    await storeMessage(opened, request);
  }
  return { session: opened, answerId: newEntryId() };
}

/** Moves the leaf to the entry before an answer, which is then regenerated. */
async function goToQuestion(session: Session, { messageId, messages }: ChatRequest): Promise<void> {
  const question = messages.findLast(({ role }) => role === "user");
  const target = messageId === undefined ? question?.id : (await session.entry(messageId)).parentId;
  if (target === undefined) throw new InvalidArgumentError("body.messages", "messages with one of the user", "without one");
  await session.moveLeaf(target);
}

async function storeMessage(session: Session, { messageId, messages }: ChatRequest): Promise<void> {
  const message = messages.at(-1);
  if (message?.role !== "user")
    throw new InvalidArgumentError(
      "body.messages",
      "messages that end with one of the user",
      `a list that ends with ${message?.role ?? "nothing"}`,
    );
  const [entry] = fromUiMessages([message]);
  if (entry === undefined) return;
  if (messageId === undefined) return appendBelow(session, messages.at(-2)?.id, entry);
  // The old message keeps its id, and the new one becomes its sibling.
  await session.moveLeaf((await session.entry(messageId)).parentId);
  await session.append({ ...entry, id: newEntryId() });
}

/** Appends a message. If the page shows another branch than that of the leaf, appends it to the end of that branch. */
async function appendBelow(session: Session, shownId: string | undefined, entry: EntryInput): Promise<void> {
  if (shownId !== undefined && session.leafId !== null) {
    const path = await session.tree.path(session.leafId);
    const isKnown = (await session.entriesById([shownId])).has(shownId);
    if (isKnown && !path.some(({ id }) => id === shownId)) await session.moveLeaf(await session.tree.tipBelow(shownId));
  }
  await session.append(entry);
}

/** The versions of a message: its siblings and itself, oldest first. */
export interface MessageVersions {
  readonly ids: readonly EntryId[];
  /** Position among `ids` of the version that is on the path of the leaf, from 0: "2 / 3" is `index + 1` and `ids.length`. */
  readonly index: number;
}

/**
 * The versions of each message that has more than one, by the given id of the message, for a switcher "2 / 3" on a page. The page keeps the
 * id of a message that was edited, while the new version has another one: the index is that of the version on the path of the leaf. Left
 * out are ids that the session does not know, such as that of an answer which was stopped before its first word. Costs one indexed read
 * for each message, and the outline of the path if one of them has versions.
 *
 * @example
 * const versions = await messageVersions(session, messages.map(({ id }) => id));
 */
export async function messageVersions(session: Session, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, MessageVersions>> {
  const versionsByEntry = new Map<EntryId, MessageVersions>();
  let path: ReadonlySet<EntryId> | undefined;
  for (const [id, { parentId }] of await session.entriesById(ids)) {
    const siblings = (await session.tree.children(parentId)).map((row) => row.id);
    if (siblings.length < 2) continue;
    path ??= new Set((await session.tree.path(session.leafId, Number.MAX_SAFE_INTEGER)).map((row) => row.id));
    const onPath = path;
    const shown = siblings.findIndex((sibling) => onPath.has(sibling));
    versionsByEntry.set(id, { ids: siblings, index: shown < 0 ? siblings.indexOf(id) : shown });
  }
  return versionsByEntry;
}

/**
 * Shows another version of a message: moves the leaf to the newest entry below it.
 *
 * @throws {EntryNotFoundError} `id` names no entry of the session.
 * @example
 * await showVersion(session, versions.get(id).ids[0]);
 * const messages = toUiMessages(await session.path());
 */
export async function showVersion(session: Session, id: EntryId): Promise<void> {
  await session.moveLeaf(await session.tree.tipBelow(id));
}

interface ChatRequest {
  readonly id: string;
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId: string | undefined;
  readonly messages: readonly UIMessage[];
}

/** The members of a request. `message` alone, as a page may send it to save bytes, is taken for `messages`. */
function readRequest(body: unknown): ChatRequest {
  if (!isObject(body)) throw new InvalidArgumentError("body", "the JSON object that a chat page sends", typeof body);
  const { id, messages, message, messageId, trigger = "submit-message" } = body;
  if (typeof id !== "string") throw new InvalidArgumentError("body.id", "the id of the chat", typeof id);
  if (trigger !== "submit-message" && trigger !== "regenerate-message")
    throw new InvalidArgumentError("body.trigger", "submit-message or regenerate-message", typeof trigger);
  if (messageId !== undefined && messageId !== null && typeof messageId !== "string")
    throw new InvalidArgumentError("body.messageId", "the id of a message", typeof messageId);
  const given: readonly unknown[] = Array.isArray(messages) ? messages : message === undefined ? [] : [message];
  if (!given.every(isUiMessage)) throw new InvalidArgumentError("body.messages", "UI messages with id, role and parts", "something else");
  return { id, trigger, messageId: messageId ?? undefined, messages: given };
}

function isUiMessage(value: unknown): value is UIMessage {
  if (!isObject(value) || typeof value["id"] !== "string" || !Array.isArray(value["parts"])) return false;
  return value["parts"].every(
    (part) => isObject(part) && typeof part["type"] === "string" && (part["type"] !== "text" || typeof part["text"] === "string"),
  );
}
