import type { EntryPayload, EntryType } from "./entry.js";
import type { MessageRole } from "./message.js";

/** Every type an entry can have, in the order of the documentation. */
export const ENTRY_TYPES = [
  "message",
  "compaction",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "context_edit",
  "custom_message",
  "custom",
  "foreign",
] as const satisfies readonly EntryType[];

/** Every role a message can have. */
export const MESSAGE_ROLES = [
  "system",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
] as const satisfies readonly MessageRole[];

// By type, so that a new one has to be decided.
const IN_CONVERSATION = {
  message: true,
  compaction: true,
  branch_summary: true,
  model_change: false,
  thinking_level_change: false,
  context_edit: false,
  custom_message: true,
  custom: false,
  foreign: false,
} as const satisfies Readonly<Record<EntryType, boolean>>;

/** The types of entries with text of their own: messages and summaries. The others are settings and data. */
export const CONVERSATION_TYPES: readonly EntryType[] = ENTRY_TYPES.filter((type) => IN_CONVERSATION[type]);

/** True for summaries, which replace other entries in a context. */
export function isSummary<E extends { readonly type: EntryType }>(
  entry: E,
): entry is E & { readonly type: "compaction" | "branch_summary" } {
  return entry.type === "compaction" || entry.type === "branch_summary";
}

/** The type of an entry, and the role of a message; null for other types. */
export interface EntryKind {
  readonly type: EntryType;
  readonly role: MessageRole | null;
}

// The number of a kind is stored (`entry.kind`): a new kind goes to the end, together with a migration.
const ENTRY_KINDS: readonly EntryKind[] = [
  ...MESSAGE_ROLES.map((role) => ({ type: "message", role }) as const),
  ...ENTRY_TYPES.filter((type) => type !== "message").map((type) => ({ type, role: null })),
];

/** Returns the number of a kind, from 1 up; `role` is that of a message. */
export function toKindNumber(type: EntryType, role: MessageRole | null): number {
  return role === null ? MESSAGE_ROLES.length + ENTRY_TYPES.indexOf(type) : MESSAGE_ROLES.indexOf(role) + 1;
}

const UNKNOWN: EntryKind = { type: "foreign", role: null };

/** Returns the kind with this number; a constraint of the table allows no other number. */
export function toEntryKind(number: number): EntryKind {
  return ENTRY_KINDS[number - 1] ?? UNKNOWN;
}

/** Returns the numbers of the kinds with one of these types and one of these roles; undefined: with any. */
export function kindsWith(types: readonly EntryType[] | undefined, roles?: readonly MessageRole[]): readonly number[] {
  const isWanted = ({ type, role }: EntryKind) =>
    (types === undefined || types.includes(type)) && (roles === undefined || (role !== null && roles.includes(role)));
  return ENTRY_KINDS.flatMap((kind, at) => (isWanted(kind) ? [at + 1] : []));
}

/** The custom type of an entry: of the entry itself, or of a message of the role `custom`; null for all others. */
export function customTypeOf(payload: EntryPayload): string | null {
  if (payload.type === "custom" || payload.type === "custom_message") return payload.customType;
  return payload.type === "message" && payload.message.role === "custom" ? payload.message.customType : null;
}
