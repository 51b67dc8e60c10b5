import type { ContextMessage } from "@bough/session-core";
import type { PathItem } from "../../src/plan/span.js";

/** What the first letter of a word stands for. */
function messageOf(name: string, call: string): ContextMessage | null {
  switch (name[0]) {
    case "u":
      return { role: "user", content: name };
    case "a":
      return { role: "assistant", content: [{ type: "text", text: name }] };
    case "k":
      return { role: "assistant", content: [{ type: "toolCall", id: name, name: "read", arguments: { path: name } }] };
    case "r":
      return { role: "toolResult", toolCallId: call, toolName: "read", content: [{ type: "text", text: name }], isError: false };
    case "n":
      return { role: "custom", customType: "note", content: name };
    case "s":
      return { role: "bashExecution", command: name, output: "" };
    case "b":
      return { role: "branchSummary", summary: name, fromId: null };
    default:
      return null;
  }
}

const TYPES = { m: "model_change", d: "custom", c: "compaction", x: "context_edit", n: "custom_message", b: "branch_summary" } as const;

/**
 * Items from words: `u1` a prompt, `a1` an answer, `k1` a reply with a call, `r1` a result, `n1` a host's message, `s1` a
 * command, `b1` a branch summary, `m1` a model change, `d1` data, `c1` a compaction, `-u1` a message that was omitted. A
 * number behind `=` is its tokens; 10 where none is given.
 */
export function items(words: string): readonly PathItem[] {
  return words
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => {
      const [given = "", tokens = "10"] = word.split("=");
      const omitted = given.startsWith("-");
      const id = omitted ? given.slice(1) : given;
      const message = omitted ? null : messageOf(id, `k${id.slice(1)}`);
      const type = TYPES[id[0] as keyof typeof TYPES] ?? "message";
      return { id, type, messages: message === null ? [] : [message], tokens: message === null ? 0 : Number(tokens) };
    });
}

/** The ids of some items. */
export function ids(some: readonly PathItem[]): string {
  return some.map(({ id }) => id).join(" ");
}
