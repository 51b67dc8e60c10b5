import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { syncSessions } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeCodexFile, writeCopilotFile, writeCursorTranscript, writeGeminiFile, writeVscodeChat } from "../bench/agent-files.mjs";
import { writeAntigravityFile, writeDroidFile, writeGrokFile, writeKimiFile, writeQwenFile } from "../bench/agent-trees.mjs";
import { writeClaudeFile, writePiFile } from "../bench/session-files.mjs";

// A file that grew is read on from where it ended: of the part before, only a checksum is computed.

const BYTES = 4_000_000;
const ID = "11111111-2222-4333-8444-555555555555";

const WRITERS: Readonly<Record<string, readonly [path: string, write: (path: string, bytes: number) => void]>> = {
  pi: [".pi/agent/sessions/p/one.jsonl", writePiFile],
  "Claude Code": [`.claude/projects/-work/${ID}.jsonl`, writeClaudeFile],
  Codex: [`.codex/sessions/2026/01/05/rollout-2026-01-05T00-00-00-${ID}.jsonl`, writeCodexFile],
  "Copilot CLI": [`.copilot/session-state/${ID}/events.jsonl`, writeCopilotFile],
  "VS Code": [`.config/Code/User/workspaceStorage/w/chatSessions/${ID}.jsonl`, writeVscodeChat],
  "Gemini CLI": [".gemini/tmp/p/chats/session-2026-04-01T10-00-11111111.jsonl", writeGeminiFile],
  Cursor: [`.cursor/projects/work/agent-transcripts/${ID}/${ID}.jsonl`, writeCursorTranscript],
  "Qwen Code": [`.qwen/projects/-work/chats/${ID}.jsonl`, writeQwenFile],
  "Kimi Code": [".kimi-code/sessions/wd_app_0/session_a3d83c4b/agents/main/wire.jsonl", writeKimiFile],
  Antigravity: [`.gemini/antigravity-cli/brain/${ID}/.system_generated/logs/transcript_full.jsonl`, writeAntigravityFile],
  Droid: [`.factory/sessions/-work/${ID}.jsonl`, writeDroidFile],
  "Grok Build": [`.grok/sessions/%2Fwork/${ID}/updates.jsonl`, writeGrokFile],
};

/** The bytes that this process has read so far, of files and databases, by system calls. */
const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

/** The end of the line that is this many lines before the last one. */
function cutBefore(content: Buffer, lines: number): number {
  let end = content.length;
  for (let at = 0; at <= lines; at += 1) end = content.lastIndexOf(0x0a, end - 1);
  return end + 1;
}

describe.runIf(process.platform === "linux")("of a file that grew, no byte is read but once for its checksum, and the new ones:", () => {
  test.each(Object.entries(WRITERS))("%s", async (_, [name, write]) => {
    const home = join(tmpdir(), `bough-read-on-${process.pid}`);
    onTestFinished(() => rmSync(home, { recursive: true }));
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    write(path, BYTES);
    const content = readFileSync(path);
    // In memory: what the store reads of its own file is not counted.
    const store = await openStore({ path: ":memory:" });
    onTestFinished(() => store.close());
    const sync = async (bytes: Buffer, atSeconds: number) => {
      writeFileSync(path, bytes);
      utimesSync(path, atSeconds, atSeconds);
      const before = bytesRead();
      const { agents } = await syncSessions(store, { environment: { env: {}, home, platform: "linux" }, threads: false });
      return {
        read: bytesRead() - before,
        added: agents.flatMap(({ sessions }) => sessions).reduce((sum, one) => sum + one.entriesAdded, 0),
      };
    };
    // The program writes on, so the end of each state is left out until it is complete.
    const now = Math.floor(Date.now() / 1000) + 1800;
    expect((await sync(content.subarray(0, cutBefore(content, 40)), now)).added).toBeGreaterThan(100);
    expect((await sync(content.subarray(0, cutBefore(content, 20)), now + 1)).added).toBeGreaterThan(0);
    const { read, added } = await sync(content, now + 2);
    expect(added).toBeGreaterThan(0);
    // Its start, from which the format is detected, is a quarter of this file. Reading all of it makes two and a half times its length.
    expect(read / content.length).toBeLessThan(2);
  });
});
