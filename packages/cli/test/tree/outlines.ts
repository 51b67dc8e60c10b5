import type { OutlineRow } from "@bough/session-core";
import fc from "fast-check";

/** One entry of an outline, in short: its id, the id of its parent, and what differs from a user message. */
export type Sketch = readonly [id: string, parent: string | null, row?: Partial<OutlineRow>];

/** An outline in order of arrival. */
export function outline(...sketches: readonly Sketch[]): readonly OutlineRow[] {
  const seqs = new Map<string, number>();
  return sketches.map(([id, parent, row], at) => {
    seqs.set(id, at + 1);
    return {
      id,
      seq: at + 1,
      parentSeq: parent === null ? null : (seqs.get(parent) ?? null),
      type: "message",
      role: "user",
      depth: 0,
      createdAtMs: 0,
      preview: id,
      isError: false,
      payloadBytes: 0,
      customType: null,
      ...row,
    };
  });
}

/** A chain of `length` user messages, `p0001` and so on. */
export function chain(length: number, prefix = "p"): readonly Sketch[] {
  const name = (at: number) => `${prefix}${String(at).padStart(5, "0")}`;
  return Array.from({ length }, (_, at) => [name(at), at === 0 ? null : name(at - 1)] as const);
}

const nasty = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom(
    "\u001b]0;title\u0007",
    "日本語のテキスト".repeat(10),
    "👩‍👩‍👧".repeat(20),
    "e\u0301".repeat(50),
    "\u202eabc",
    "a\nb\nc",
    "",
    " ",
    "x".repeat(300),
  ),
);

const types = fc.constantFrom<Partial<OutlineRow>[]>(
  { role: "user" },
  { role: "assistant" },
  { role: "toolResult" },
  { role: "system" },
  { role: "bashExecution" },
  { type: "compaction", role: null },
  { type: "branch_summary", role: null },
  { type: "model_change", role: null },
  { type: "thinking_level_change", role: null },
  { type: "context_edit", role: null },
  { type: "custom_message", role: null },
  { type: "custom", role: null },
  { type: "foreign", role: null },
);

/** Any tree of up to 60 entries with any text. */
export const anyOutline: fc.Arbitrary<readonly OutlineRow[]> = fc
  .array(fc.record({ up: fc.nat({ max: 8 }), row: types, preview: nasty, isError: fc.boolean() }), { maxLength: 60 })
  .map((entries) =>
    entries.map(({ up, row, preview, isError }, at) => ({
      id: `id${at}-${(at * 7919).toString(36)}`,
      seq: (at + 1) * 3,
      // Mostly under a recent entry, now and then a new first one.
      parentSeq: at - up <= 0 ? null : (at - up) * 3,
      type: "message" as const,
      role: "user" as const,
      depth: 0,
      createdAtMs: at,
      preview,
      isError,
      payloadBytes: 40,
      customType: null,
      ...row,
    })),
  );
