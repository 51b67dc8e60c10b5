import { assistantMessage, openStore, toolResult } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { sessionPage } from "../../src/page/page.js";
import { NOON, world } from "../world.js";

/** The page of a session as Claude Code records it: a slash command, numbered lines of a file, a reminder for the model. */
async function claudePage(): Promise<string> {
  const store = await openStore({ path: world().store, durability: "normal" });
  onTestFinished(() => store.close());
  const session = await store.createSession({ id: "page-1", title: "Init" });
  const command = "<command-message>init is analyzing…</command-message>\n<command-name>/init</command-name>";
  await session.append({
    type: "message",
    message: { role: "custom", customType: "claude.command", content: command, display: true },
    createdAtMs: NOON,
  });
  const read = { type: "toolCall", id: "c1", name: "Read", arguments: { file_path: "a.ts" } } as const;
  await session.append(assistantMessage([{ type: "text", text: "## Goal\n\nRead **all** of `a.ts`" }, read]));
  await session.append(
    toolResult("c1", "     1→const one = 1;\n     2→const two = 2;\n\n<system-reminder>\nBe careful.\n</system-reminder>"),
  );
  let page = "";
  for await (const piece of sessionPage(session, {})) page += piece;
  return page.slice(page.indexOf("<body"));
}

test("a slash command is what the person typed", async () => {
  const page = await claudePage();
  expect(page).toContain("/init");
  expect(page).not.toContain("command-message");
  expect(page).not.toContain("claude.command");
});

test("the output of a tool has no line numbers and no reminders of the agent", async () => {
  const page = await claudePage();
  expect(page).toContain("const one = 1;\nconst two = 2;");
  expect(page).not.toContain("1→");
  expect(page).not.toContain("Be careful");
});

test("a row of the tree has no marks of Markdown", async () => {
  const page = await claudePage();
  expect(page).toContain('<span class="said">Goal Read all of a.ts');
});
