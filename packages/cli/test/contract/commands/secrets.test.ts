import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../../world.js";

// Put together at run time, so that no scanner of this repository takes it for a real one.
const TOKEN = `ghp_${"k7Qz2Vn9Rb4Xw8Lt5Hd3".repeat(2).slice(0, 36)}`;

async function sessionWithSecrets(here: World): Promise<void> {
  const time = "2026-01-05T10:00:00.000Z";
  const message = (id: string, parentId: string | null, content: unknown) =>
    JSON.stringify({ type: "message", id, parentId, timestamp: time, message: { ...Object(content), timestamp: 1 } });
  const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: ".env" } };
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "deploy-session", timestamp: time, cwd: here.folder }),
    message("aaaa1111", null, { role: "user", content: `Use ${TOKEN} twice: ${TOKEN}` }),
    message("bbbb2222", "aaaa1111", { role: "assistant", content: [{ type: "text", text: "https://me:hunter22@git.example/a" }, call] }),
    message("cccc3333", "bbbb2222", { role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "PORT=1\nPIN=walrus77x" }] }),
  ];
  const file = here.path("deploy.jsonl");
  writeFileSync(file, `${lines.join("\n")}\n`);
  await here.run(["import", file]);
}

const SECRETS = [TOKEN, "hunter22", "walrus77x"];

describe("bough secrets", () => {
  test("lists entry, kind and line of each secret, without showing it", async () => {
    const here = world();
    await sessionWithSecrets(here);
    const { out, exit } = await here.run(["secrets"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/aaaa +GitHub token 1 +×2 +Use \[GitHub token 1\] twice: \[GitHub token 1\]/);
    expect(out).toMatch(/bbbb +password in a URL 1 +https:\/\/me:\[password in a URL 1\]@git/);
    expect(out).toMatch(/cccc +value of an \.env file 1 +PIN=\[value of an \.env file 1\]/);
    expect(out).toContain("3 secrets in 1 session: 1 GitHub token, 1 password in a URL, 1 value of an .env file.");
    expect(out).toContain("revoke each where it was issued");
    for (const secret of SECRETS) expect(out).not.toContain(secret);
  });

  test("prints the same as JSON, and searches one session", async () => {
    const here = world();
    await parserSession(here);
    await sessionWithSecrets(here);
    const { out } = await here.run(["secrets", "deploy-session", "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      sessions: [
        {
          id: "deploy-session",
          places: [
            { entryId: "aaaa1111", kind: "GitHub token", mask: "[GitHub token 1]", count: 2 },
            { entryId: "bbbb2222", kind: "password in a URL", count: 1 },
            { entryId: "cccc3333", kind: "value of an .env file", context: "PIN=[value of an .env file 1]" },
          ],
        },
      ],
    });
    for (const secret of SECRETS) expect(out).not.toContain(secret);
    expect((await here.run(["secrets", "parser"])).out).toBe("No secrets found in 1 session.\n");
  });

  test("ends with a code of its own only with --check, and only if there are secrets", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["secrets", "--check"])).toMatchObject({ exit: 0 });
    await sessionWithSecrets(here);
    expect(await here.run(["secrets"])).toMatchObject({ exit: 0 });
    expect(await here.run(["secrets", "--check"])).toMatchObject({ exit: 3, code: "SECRETS_FOUND" });
  });
});

describe("bough export of a session with secrets", () => {
  test.each(["markdown", "bough", "pi", "claude"])("masks them as %s, and says how many and how to keep them", async (format) => {
    const here = world();
    await sessionWithSecrets(here);
    const { out, err, exit } = await here.run(["export", "deploy-session", "--format", format]);
    expect(exit).toBe(0);
    for (const secret of SECRETS) expect(out).not.toContain(secret);
    expect(err).toContain("3 secrets masked: 1 GitHub token, 1 password in a URL, 1 value of an .env file (--with-secrets keeps them)");
    const kept = await here.run(["export", "deploy-session", "--format", format, "--with-secrets"]);
    for (const secret of SECRETS) expect(kept.out).toContain(secret);
    expect(kept.err).toBe("");
  });

  test("says so also for a file, and in the document", async () => {
    const here = world();
    await sessionWithSecrets(here);
    const file = here.path("out.md");
    const { err } = await here.run(["export", "deploy-session", "-o", file]);
    expect(err).toContain("3 secrets masked");
    expect(readFileSync(file, "utf8")).toMatch(/\*3 secrets masked: 1 GitHub token, 1 password in a URL, 1 value of an \.env file\.\*\n$/);
  });
});
