import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { antigravityFormat } from "../../src/antigravity/format.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { contextTexts, importedFile, importedPath, treeLines } from "../world/imported-file.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { derivedNamed, jsonl, only } from "../world/only.js";
import { readsOnAlike } from "../world/read-on.js";
import { EVERYTHING, PATH, SESSION } from "./antigravity-file.js";

describe("a session of Antigravity", () => {
  test("becomes prompts without their wrapping, replies with calls, and results in the order of the calls; what was taken back is a branch", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    expect(derivedNamed(await treeLines(only(sessions)))).toEqual([
      "#1 < -: user Fix it",
      expect.stringMatching(/^#2 < #1: antigravity.context <USER_SETTINGS_CHANGE>/),
      "#3 < #2: assistant (Hm.) [view_file call-3-0] [run_command call-3-1]",
      "#4 < #3: result call-3-0 1: hello",
      "#5 < #4: error call-3-1 failed",
      "#6 < #5: antigravity.system_message Go on.",
      "#7 < #6: assistant Done.",
      "#8 < #7: user No",
      "#9 < #8: assistant Why?",
      "#10 < #7: user Yes",
      "#11 < #10: assistant Good.",
      '#12 < #11: compaction "All done." keeps nothing',
      "#13 < #12: user More",
      "#14 < #13: antigravity.generic A result without a call",
      "#15 < #14: assistant Sure.",
    ]);
    expect(await contextTexts(only(sessions))).toEqual(["All done.", "More", "A result without a call", "Sure."]);
  });

  test("has the model of its settings and the arguments of its calls as values", async () => {
    const { sessions } = await importedFile(PATH, EVERYTHING);
    const { entries } = await only(sessions).context({ leafId: (await only(sessions).tree.outline())[4]?.id });
    const reply = await only(sessions).entry(entries[2] ?? "");
    expect(reply).toMatchObject({ message: { provider: "google", model: "Gemini 3.5 Flash (Medium)" } });
    expect(JSON.stringify(reply)).toContain('"arguments":{"CommandLine":"false","Blocking":true}');
    expect((await only(sessions).fileOperations({ toId: entries[4] ?? "" })).map(({ path }) => path)).toEqual(["/work/a.ts"]);
  });

  test("keeps a prompt without a closing tag as it is, read in linear time", async () => {
    // A cubic pattern takes more than an hour for this prompt.
    const prompt = `<USER_REQUEST>\n${" ".repeat(20_000)}x${" ".repeat(20_000)}y`;
    const { sessions } = await importedFile(PATH, [{ ...EVERYTHING[0], content: prompt }]);
    expect(await contextTexts(only(sessions))).toEqual([prompt]);
  });

  test("is read from the whole transcript, once, with its id and directory", async () => {
    const folder = tempFolder();
    for (const name of [PATH, PATH.replace("_full", "")]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), jsonl(EVERYTHING));
    }
    mkdirSync(join(folder, ".gemini/antigravity-cli/cache"));
    writeFileSync(join(folder, ".gemini/antigravity-cli/cache/last_conversations.json"), JSON.stringify({ "/work": SESSION }));
    const { sessions } = await importedPath(folder);
    expect(await only(sessions).record()).toMatchObject({ id: SESSION, cwd: "/work", source: { format: "antigravity" } });
  });
});

test("a sync finds the conversations of the command line and of both versions of the editor", async () => {
  const home = tempFolder();
  for (const folder of ["antigravity-cli", "antigravity", "antigravity-ide"]) {
    const path = join(home, PATH.replace("antigravity-cli", folder).replace(SESSION, folder));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, jsonl(EVERYTHING));
  }
  const { agents } = await syncSessions(await openedStore(), { environment: { env: {}, home, platform: "linux" } });
  expect(agents.map(({ agent, sessions }) => [agent, sessions.length])).toEqual([
    ["Antigravity CLI", 1],
    ["Antigravity", 2],
  ]);
});

test("a transcript that grows is read on as it is read whole", () => {
  readsOnAlike(antigravityFormat, "transcript_full.jsonl", jsonl(EVERYTHING));
});

test("of any mutated transcript nothing is lost silently", async () => {
  await nothingIsLost([{ name: "transcript_full.jsonl", content: jsonl(EVERYTHING) }]);
});
