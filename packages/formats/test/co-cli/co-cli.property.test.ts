import { writeFileSync } from "node:fs";
import type { SourceRecord } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { collected } from "../../../session-core/test/world/stores.js";
import { coCliFormat } from "../../src/co-cli/format.js";
import { importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";

const NAME = "2026-04-01-T100000Z-1a2b3c4d.jsonl";
const AT = "2026-04-01T10:00:05Z";

const request = (...parts: readonly object[]) => [{ parts, instructions: "Be brief.", kind: "request" }];
const prompt = (content: unknown) => ({ content, timestamp: AT, part_kind: "user-prompt" });
const response = (...parts: readonly object[]) => [
  {
    parts,
    usage: { input_tokens: 90, output_tokens: 9, cache_read_tokens: 80 },
    model_name: "qwen3",
    timestamp: AT,
    kind: "response",
    finish_reason: "stop",
  },
];
const text = (content: string) => ({ content, part_kind: "text" });
const called = (id: string, args: unknown) => ({ tool_name: "read", args, tool_call_id: id, part_kind: "tool-call" });
const returned = (id: string, content: unknown) => ({
  tool_name: "read",
  content,
  tool_call_id: id,
  timestamp: AT,
  part_kind: "tool-return",
  metadata: null,
});

const TALK = [
  request({ content: "You are co.", part_kind: "system-prompt" }, prompt("Read both.")),
  response(
    { content: "Hm.", signature: "c2ln", part_kind: "thinking" },
    text("Reading."),
    called("a", '{"path":"a"}'),
    called("b", { path: "b" }),
  ),
  request(returned("a", "A"), { content: "no such file", tool_name: "read", tool_call_id: "b", part_kind: "retry-prompt" }),
  response(text("Done.")),
];
const TREE = [
  "system Be brief.",
  "system You are co.",
  "user Read both.",
  "assistant (Hm.) Reading. [read a] [read b]",
  "result a A",
  "error b no such file",
  "assistant Done.",
];

const jsonl = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const plain = (lines: readonly string[]) => lines.map((line) => line.replace(/^.*? < .*?: /, ""));

async function only(content: string, name = NAME) {
  const { sessions } = await importedFile(name, content);
  const [session] = sessions;
  if (session === undefined || sessions.length > 1) throw new RangeError("not one session");
  return session;
}

describe("sessions of co-cli", () => {
  test("requests are messages of the user and results, responses are replies with usage", async () => {
    const session = await only(jsonl(TALK));
    expect(plain(await treeLines(session))).toEqual(TREE);
    expect([session.id, (await session.record()).createdAtMs]).toEqual(["1a2b3c4d", Date.UTC(2026, 3, 1, 10)]);
    const replies = (await collected(session.entries())).filter((entry) => entry.type === "message" && entry.message.role === "assistant");
    expect(replies[0]).toMatchObject({ message: { model: "qwen3", usage: { input: 10, cacheRead: 80, output: 9 }, stopReason: "stop" } });
  });

  test("one array of all messages is a session too", async () => {
    expect(plain(await treeLines(await only(JSON.stringify(TALK.flat(), null, 2), "dump.json")))).toEqual(TREE);
  });

  test("images and unknown parts are kept; a retry without a tool is nothing that was typed", async () => {
    const content = [
      "look",
      { kind: "binary", data: "-_8=", media_type: "image/png" },
      { url: "https://example.org/a.png", kind: "image-url" },
    ];
    const lines = [
      request(prompt(content)),
      response({ part_kind: "hologram" }),
      request({ content: "Answer with text.", part_kind: "retry-prompt" }),
    ];
    expect(plain(await treeLines(await only(jsonl(lines)))).slice(1)).toEqual([
      "user look <image> <file>",
      "assistant <foreign>",
      "co-cli.retry Answer with text.",
    ]);
  });

  test("a file that was rewritten with a summary is a branch of the same session, which starts with a compaction", async () => {
    const { store, path } = await importedFile(NAME, jsonl(TALK));
    const summary =
      "[CONTEXT COMPACTION — REFERENCE ONLY] This session is being continued…\n\nThe summary covers the earlier portion (3 messages).\n\nBoth were read.\n\nRecent messages are preserved verbatim.";
    writeFileSync(path, jsonl([TALK[0], request(prompt(summary)), TALK[3]]));
    const { sessions } = await importedPath(path, store);
    expect(sessions.map(({ id }) => id)).toEqual(["1a2b3c4d"]);
    const lines = await treeLines(sessions[0] ?? (await only("")));
    expect(plain(lines).slice(TREE.length)).toEqual(['compaction "Both were read." keeps nothing', "assistant Done."]);
  });

  test("reading in two parts at any line gives the same records as reading whole", async () => {
    const { path } = await importedFile(NAME, jsonl(TALK));
    const read = (): readonly [readonly SourceRecord[], ReturnType<NonNullable<ReturnType<typeof session>["position"]>>] => {
      const source = session();
      return [[...source.records()], source.position?.()];
    };
    const session = () => [...coCliFormat.sessions(path)][0] ?? fail();
    const [whole] = read();
    for (let lines = 0; lines <= TALK.length; lines += 1) {
      writeFileSync(path, jsonl(TALK.slice(0, lines)));
      const [first, position] = lines === 0 ? [[], undefined] : read();
      writeFileSync(path, jsonl(TALK));
      expect([...first, ...session().records(position)]).toEqual(whole);
    }
  });
});

function fail(): never {
  throw new RangeError("no session");
}

test("of any mutated file every line is an entry, merged or reported; errors are typed; a second import adds nothing", async () => {
  await nothingIsLost([{ name: NAME, content: Buffer.from(jsonl([...TALK, ...TALK])) }]);
});
