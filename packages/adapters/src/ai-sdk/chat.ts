import { isDeepStrictEqual } from "node:util";
import {
  type Entry,
  type EntryId,
  type EntryInput,
  InvalidArgumentError,
  type NewSession,
  type Session,
  type Store,
} from "@bough/session-core";
import { isObject, newEntryId } from "@bough/session-core/wire";
import type { UIMessage } from "ai";
import { requireStore } from "../store-argument.js";
import { toJson } from "./blocks.js";
import { continueAnswer } from "./continue-answer.js";
import { fromUiMessages } from "./from-ui-messages.js";

/** A request of a chat page, stored. */
export interface ReceivedChat {
  readonly session: Session;
  /** The id for the answer, or that of the answer to continue: give it to `recordSteps` and to `toUIMessageStreamResponse`. */
  readonly answerId: EntryId;
}

/**
 * Stores what a chat page sends (`useChat` with `DefaultChatTransport`): the session has the id of the chat and is created by the
 * first request. A new message goes below what the page shows; an edited message and a regenerated answer become siblings of
 * the old ones, so that nothing is overwritten. Only the newest message of the request is stored, and only if it is a user's. If it is
 * the newest answer, the parts that the page added to it are stored: outputs of tools that run on the page, and answers to approvals.
 * The model then continues that answer under its id.
 *
 * @param session What a new session gets, for example `{ metadata: { owner } }`. Check the owner of an existing one yourself.
 * @throws {InvalidArgumentError} the body is not a request of a chat page.
 * @throws {EntryNotFoundError} the edited message is no entry of the session.
 * @example
 * const { session, answerId } = await receiveChat(store, await request.json());
 * const result = streamText({ model, ...toAiSdk(await session.context()), ...recordSteps(session, { id: answerId }) });
 * return result.toUIMessageStreamResponse({ generateMessageId: () => answerId, consumeSseStream: consumeStream });
 */
export async function receiveChat(store: Store, body: unknown, session: Omit<NewSession, "id"> = {}): Promise<ReceivedChat> {
  requireStore(store);
  const request = readRequest(body);
  const opened = await store.openOrCreateSession(request.id, session);
  if (request.trigger === "regenerate-message") await goToQuestion(opened, request);
  else {
    const last = request.messages.at(-1);
    if (last?.role === "assistant") {
      await continueAnswer(opened, last);
      return { session: opened, answerId: last.id };
    }
    await storeMessage(opened, request.messages, request.messageId);
  }
  return { session: opened, answerId: newEntryId() };
}

/**
 * Moves the leaf to the question of an answer, which is then regenerated: to the entry before the answer, or, of an answer that was
 * stopped before its first word and where the page names the question, to the newest question. One that never arrived is stored.
 */
async function goToQuestion(session: Session, { messageId, messages }: ChatRequest): Promise<void> {
  const named = messageId === undefined ? undefined : (await session.entriesById([messageId])).get(messageId);
  if (named?.type === "message" && named.message.role === "assistant") return session.moveLeaf(named.parentId);
  const at = messages.findLastIndex(({ role }) => role === "user");
  const question = messages[at];
  if (question === undefined) throw new InvalidArgumentError("body.messages", "messages with one of the user", "without one");
  const shown = await shownEntry(session, question);
  if (shown === undefined) await storeMessage(session, messages.slice(0, at + 1));
  else await session.moveLeaf(shown);
}

/** Stores the newest message. `messageId`: the message that it replaces. */
async function storeMessage(session: Session, messages: readonly UIMessage[], messageId?: EntryId): Promise<void> {
  const message = messages.at(-1);
  if (message?.role !== "user")
    throw new InvalidArgumentError(
      "body.messages",
      "messages that end with one of the user",
      `a list that ends with ${message?.role ?? "nothing"}`,
    );
  const [entry] = fromUiMessages([message]);
  if (entry === undefined) return;
  if (messageId === undefined) return appendBelow(session, messages.at(-2), entry);
  // The old message keeps its id, and the new one becomes its sibling.
  await session.moveLeaf((await session.entry(messageId)).parentId);
  await session.append({ ...entry, id: newEntryId() });
}

/** Appends a message. If the page shows another branch than that of the leaf, appends it to the end of that branch. */
async function appendBelow(session: Session, before: UIMessage | undefined, entry: EntryInput): Promise<void> {
  const shown = before && (await shownEntry(session, before));
  if (shown !== undefined && session.leafId !== null && (await session.tree.commonAncestor(shown, session.leafId)) !== shown)
    await session.moveLeaf(await session.tree.tipBelow(shown));
  await session.append(entry);
}

/**
 * The entry of a message of the page; undefined: it is not stored. A page keeps the id of a message that it edits, while the new version
 * has another one, so it is the newest version that says what the page shows.
 */
async function shownEntry(session: Session, message: UIMessage): Promise<EntryId | undefined> {
  const stored = (await session.entriesById([message.id])).get(message.id);
  if (stored === undefined || message.role !== "user") return stored?.id;
  const versions = await session.entriesById((await session.tree.children(stored.parentId)).map(({ id }) => id));
  const shown = contentOf(fromUiMessages([message])[0]);
  return [...versions.values()].findLast((version) => isDeepStrictEqual(contentOf(version), shown))?.id ?? stored.id;
}

function contentOf(entry: Entry | EntryInput | undefined): unknown {
  return entry?.type === "message" && entry.message.role === "user" ? toJson(entry.message.content) : undefined;
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
