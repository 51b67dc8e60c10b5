import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { FORMATS } from "../../src/registry.js";
import { readHead } from "../../src/source/json-lines.js";
import { closeDetected } from "../../src/source/source-database.js";
import { SourceFolders } from "../../src/source/source-folders.js";
import * as antigravity from "../antigravity/antigravity-file.js";
import * as claude from "../claude/claude-file.js";
import * as codex from "../codex/rollout.js";
import * as droid from "../droid/droid-file.js";
import * as gemini from "../gemini/gemini-log.js";
import * as grok from "../grok/grok-file.js";
import * as kimi from "../kimi/kimi-file.js";
import * as opencode from "../opencode/fixture.js";
import * as pi from "../pi/pi-files.js";
import * as qwen from "../qwen/qwen-file.js";
import { jsonl } from "../world/only.js";

/** Valid records of logs, by the format that must recognize them, and how many of the first ones make a file valid. */
const LOGS: Readonly<Record<string, readonly [records: readonly object[], first: number]>> = {
  antigravity: [antigravity.EVERYTHING, 0],
  claude: [
    [
      claude.user("u1", null, "go"),
      claude.reply("a1", "u1", "m1", [claude.text("Yes.")]),
      claude.progress("p1", "a1"),
      claude.user("u2", "a1", "more"),
    ],
    0,
  ],
  codex: [codex.EVERYTHING, 1],
  droid: [droid.EVERYTHING, 1],
  gemini: [[gemini.header(), gemini.user("u", "go"), gemini.gemini("g", "Yes.")], 1],
  grok: [grok.EVERYTHING, 0],
  kimi: [kimi.EVERYTHING, 1],
  pi: [[pi.HEADER, pi.user("u1", null), pi.user("u2", "u1")], 1],
  qwen: [qwen.EVERYTHING, 0],
};

function formatsOf(path: string): readonly string[] {
  const folders = new SourceFolders();
  const head = readHead(path);
  const found = FORMATS.filter((format) => format.detects(head, folders)).map(({ name }) => name);
  closeDetected(folders);
  return found;
}

test.each(Object.entries(LOGS))(
  "no file with valid records of %s is recognized by the reader of another agent",
  async (name, [records, first]) => {
    const path = join(tempFolder(), "log.jsonl");
    const rest = fc.subarray(records.slice(first), { minLength: first === 0 ? 1 : 0 });
    await fc.assert(
      fc.asyncProperty(rest, async (some) => {
        writeFileSync(path, jsonl([...records.slice(0, first), ...some]));
        // A record alone may not show its program; it must not show another one.
        expect([[], [name]]).toContainEqual(formatsOf(path));
      }),
      { numRuns: runs(60) },
    );
    writeFileSync(path, jsonl(records));
    expect(formatsOf(path)).toEqual([name]);
  },
);

test("a database of opencode is Kilo's by its name alone, and of no other reader", () => {
  const folder = tempFolder();
  const session = { info: opencode.sessionInfo("ses_1"), messages: [opencode.user("msg_1", 0, [opencode.text("go")])] };
  const formats = ["opencode.db", "kilo.db"].map((name) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    opencode.writeDatabase(join(folder, name), [session]);
    return formatsOf(join(folder, name)).slice(0, 1);
  });
  expect(formats).toEqual([["opencode"], ["kilo"]]);
});
