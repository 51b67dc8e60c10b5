import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, type EntryInput, type Session, toolResult, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { collected, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import type { SecretCount } from "../../../src/secrets/secret.js";
import { SessionMasks } from "../../../src/secrets/session-masks.js";
import { exportBough, exportClaude, exportMarkdown, exportPi, learnSecrets, type SecretOptions } from "../../../src/transfer/export.js";
import { importPath } from "../../../src/transfer/import-path.js";

const word = (length: number) => "k7Qz2Vn9Rb4Xw8Lt5Hd3".repeat(10).slice(0, length);
// Put together at run time, so that no scanner of this repository takes them for real ones.
const TOKEN = `ghp_${word(36)}`;
const KEY = ["-----BEGIN PRIVATE KEY-----", word(64), "-----END PRIVATE KEY-----"].join("\n");
const STRANGE = `zz${word(22)}`;
const ENV_FILE = `     1→PORT=3000\n     2→STRANGE="${STRANGE}"\n     3→PIN=hunter22x # mine\n     4→HOST=\n`;

const EXPORTS: readonly (readonly [string, (session: Session, options: SecretOptions) => AsyncIterable<string>])[] = [
  ["Markdown", (session, options) => exportMarkdown(session, { ...options, toolOutput: "full", thinking: true })],
  ["JSONL of Bough", exportBough],
  ["JSONL of pi", exportPi],
  ["a transcript of Claude Code", exportClaude],
];

async function sessionOf(...entries: readonly EntryInput[]): Promise<Session> {
  const store = await openedStore();
  const session = await store.createSession({ title: `Deploy ${TOKEN}`, cwd: "/p", metadata: { note: `uses ${TOKEN}` } });
  for (const entry of entries) await session.append(entry);
  return session;
}

const message = (given: Parameters<typeof assistantMessage>[0]): EntryInput => assistantMessage(given);
const call = (id: string, name: string, args: Record<string, unknown>) => ({ type: "toolCall" as const, id, name, arguments: args });

/** Each place where a secret can be. */
const PLACES: Readonly<Record<string, (secret: string) => readonly EntryInput[]>> = {
  "a message of the person": (secret) => [userMessage(`use ${secret} please`)],
  "a code block": (secret) => [userMessage(`\`\`\`sh\nexport X=${secret}\n\`\`\``)],
  "a thought": (secret) => [message([{ type: "thinking", thinking: `I see ${secret}` }])],
  "a reply": (secret) => [message(`It is **${secret}**.`)],
  "an argument of a call": (secret) => [message([call("c1", "bash", { command: `echo "${secret}"` })])],
  "JSON in an argument": (secret) => [message([call("c1", "http", { body: JSON.stringify({ a: JSON.stringify({ b: secret }) }) })])],
  "a list in an argument": (secret) => [message([call("c1", "run", { list: [["a", { b: secret }]] })])],
  "the name of an argument": (secret) => [message([call("c1", "run", { [secret]: 1 })])],
  "a file name": (secret) => [message([call("c1", "read", { path: `src/${secret}.ts` })])],
  "a result": (secret) => [message([call("c1", "bash", {})]), toolResult("c1", `out ${secret}`)],
  "details of a result": (secret) => [
    message([call("c1", "edit", {})]),
    { ...toolResult("c1", "ok", { details: { diff: `+ ${secret}` } }) },
  ],
  "a summary": (secret) => [{ type: "branch_summary", summary: `Deployed with ${secret}`, fromId: null, details: { readFiles: [secret] } }],
  "a host's data": (secret) => [{ type: "custom", customType: "state", data: { deep: { text: secret } } }],
  "a foreign record": (secret) => [{ type: "foreign", originalType: "x", raw: { text: secret } }],
};

describe.each(EXPORTS)("an export as %s", (_name, exported) => {
  const textOf = async (session: Session, options: SecretOptions = { secrets: "mask" }) =>
    (await collected(exported(session, options))).join("");

  test.each(Object.entries(PLACES))("masks a secret in %s", async (_place, entries) => {
    const session = await sessionOf(...entries(TOKEN));
    expect(await textOf(session)).not.toContain(TOKEN);
  });

  test.each([
    ["a color code in it", `${TOKEN.slice(0, 4)}\u001b[m\u001b[K${TOKEN.slice(4)}`],
    ["an invisible character in it", `gh\u200b${TOKEN.slice(2)}`],
  ])("masks a secret with %s", async (_name, secret) => {
    const session = await sessionOf(message([call("c1", "bash", {})]), toolResult("c1", `key = \u001b[31m${secret}\u001b[0m\r\n`));
    expect(await textOf(session)).not.toContain(TOKEN.slice(4));
  });

  test("masks the name of a model", async () => {
    const session = await sessionOf({ type: "model_change", provider: "p", modelId: TOKEN });
    expect(await textOf(session)).not.toContain(TOKEN.slice(4).replaceAll("_", "\\_"));
  });

  test("masks labels, titles, metadata and values", async () => {
    const session = await sessionOf(userMessage("hello"));
    const leaf = session.leafId;
    if (leaf !== null) await session.labels.set(leaf, `with ${TOKEN}`);
    await session.values.set("note", { text: TOKEN });
    const text = await textOf(session);
    expect(text).not.toContain(TOKEN);
    expect(text).toContain("GitHub token 1");
  });

  test("masks what an .env file contains, and each further occurrence of its values, but not everyday values", async () => {
    const session = await sessionOf(
      message([call("c1", "Read", { file_path: "/p/.env.local" })]),
      toolResult("c1", ENV_FILE),
      message(`The value is ${STRANGE}.`),
    );
    const text = await textOf(session);
    expect(text).not.toContain(STRANGE);
    expect(text).not.toContain("hunter22x");
    expect(text).toContain("PORT=3000");
    expect(text).toContain("The value is [value of an .env file 1].");
  });

  test("leaves the example of an .env file alone", async () => {
    const session = await sessionOf(message([call("c1", "Read", { file_path: "/p/.env.example" })]), toolResult("c1", ENV_FILE));
    expect(await textOf(session)).toContain(STRANGE);
  });

  test("masks members that are named as secrets", async () => {
    const session = await sessionOf(
      message([call("c1", "http", { password: "long words", headers: { Authorization: "Basic abcd1234" } })]),
    );
    const text = await textOf(session);
    expect(text).not.toContain("long words");
    expect(text).not.toContain("abcd1234");
  });

  test("masks a private key in one piece", async () => {
    const session = await sessionOf(userMessage(`the key:\n${KEY}\nend`), message([call("c1", "write", { path: "k.pem", content: KEY })]));
    const text = await textOf(session);
    expect(text).not.toContain(word(64));
    expect(text).toContain("[private key 1]");
  });

  test("leaves images as they are", async () => {
    const data = `AKIA${word(16).toUpperCase()}${"A".repeat(5000)}`;
    const session = await sessionOf(userMessage([{ type: "image", data, mimeType: "image/png" }]));
    const [masked, kept] = [await textOf(session), await textOf(session, { secrets: "keep" })];
    expect(masked.includes(data)).toBe(kept.includes(data));
  });

  test("tells how many it masked, of what kinds; and keeps them all if that is wanted", async () => {
    const session = await sessionOf(userMessage(`${TOKEN} ${TOKEN} ghs_${word(36)}`), userMessage("https://me:hunter22@git.example"));
    const counts: SecretCount[] = [];
    await textOf(session, { secrets: "mask", onMasked: (found) => counts.push(...found) });
    expect(counts).toEqual([
      { kind: "GitHub token", count: 2 },
      { kind: "password in a URL", count: 1 },
    ]);
    const kept = await textOf(session, { secrets: "keep", onMasked: () => expect.unreachable() });
    expect(kept).toContain(TOKEN);
    expect(kept).toContain("hunter22");
    expect(kept).not.toContain("masked");
  });

  test("masks any mixture, and leaves what is around it", async () => {
    const places = fc.constantFrom(...Object.values(PLACES));
    await fc.assert(
      fc.asyncProperty(
        fc.array(places, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(TOKEN, `sk-ant-api03-${word(60)}`, `glpat-${word(20)}`),
        async (some, secret) => {
          const session = await sessionOf(...some.flatMap((entries) => entries(secret)), userMessage("the end"));
          const text = await textOf(session);
          expect(text).not.toContain(secret);
          expect(text).toContain("the end");
        },
      ),
      { numRuns: runs(15) },
    );
  });
});

test.each([[TOKEN], [KEY], ["hunter22x9"]])("masks the part of a secret in which a title was cut: %s", async (secret) => {
  const session = await sessionOf(userMessage(`"password": "${secret}"`));
  const masker = await learnSecrets(session);
  for (const cut of [6, 8, Math.min(secret.length, 40)]) {
    const shown = secret.replace(/\s+/g, " ").slice(0, cut);
    expect(masker.maskValue(`Log in with ${shown}…`)).toMatch(/^Log in with \[.* 1\]…$/);
  }
  expect(masker.maskValue("Log in with it…")).toBe("Log in with it…");
});

/** Texts of several lines, with their secret. On one line no rule for lines finds it. */
const ON_LINES: readonly (readonly [string, string])[] = [
  ["hunter2Xyz9", "my config:\n  db_password: hunter2Xyz9\n  host: x"],
  [`${word(20)}/${word(19)}`, `see\naws_secret_access_key = ${word(20)}/${word(19)}\nok`],
  ["Zq8sd7f6s8d7f6sd8f7", "SECRET_KEY_BASE: Zq8sd7f6s8d7f6sd8f7\nwhat is this?"],
  ["Zx81kkq9s7d", "machine h\n  login u\n  password Zx81kkq9s7d"],
  ["swordfishes", "[smtp]\npassword = swordfishes\nhost = x"],
];

describe("a title or a label", () => {
  test.each(ON_LINES)("on one line is masked in every export: %s", async (secret, text) => {
    const store = await openedStore();
    const untitled = await store.createSession({ id: "untitled" });
    await untitled.append(userMessage(text));
    const titled = await store.createSession({ id: "titled", title: text });
    const { id } = await titled.append(userMessage("hi"));
    await titled.labels.set(id, text.replaceAll("\n", " "));
    for (const session of [untitled, titled])
      for (const [, exported] of EXPORTS) {
        const plain = (await collected(exported(session, {}))).join("").replaceAll("\\", "");
        expect(plain).not.toContain(secret);
      }
  });

  test("is masked where it repeats any secret of the session, also one that is a word; parts of other words stay", async () => {
    const session = await sessionOf(userMessage('{"password": "swordfish"}'));
    const masker = await learnSecrets(session);
    expect(masker.maskLine("log in with swordfish, as the swordfishes do")).toBe("log in with [password 1], as the swordfishes do");
  });

  test("keeps the words of every day that an .env file has", async () => {
    const session = await sessionOf(
      message([call("c1", "Read", { file_path: "/p/.env" })]),
      toolResult("c1", "APP_NAME=parser\nPIN=hunter22\n"),
    );
    const masker = await learnSecrets(session);
    expect(masker.maskLine("the parser takes hunter22")).toBe("the parser takes [value of an .env file 2]");
  });
});

describe("masks of several sessions", () => {
  test("read a session once, and then what has arrived since", async () => {
    const session = await sessionOf(userMessage('{"password": "swordfish"}'));
    const masks = new SessionMasks();
    expect((await masks.of(session)).maskLine("swordfish")).toBe("[password 1]");
    await session.append(userMessage('{"password": "barracuda"}'));
    expect((await masks.of(session)).maskLine("swordfish and barracuda")).toBe("[password 1] and [password 2]");
    expect(await masks.of(session)).toBe(await masks.of(session));
  });

  test("open a session for its title only if a word of it can be a secret", async () => {
    const session = await sessionOf(userMessage(`{"password": "hunter22"}`));
    const masks = new SessionMasks();
    expect(await masks.maskTitle("Tabs in the lexer", () => expect.unreachable())).toBe("Tabs in the lexer");
    expect(await masks.maskTitle("Use hunter22 there", async () => session)).toBe("Use [password 1] there");
  });

  test.each([
    "echo sesame | sudo -S apt update",
    "sudo -S true <<< sesame",
    "curl -u ada:sesame example.org",
    "mysql -psesame",
    "redis-cli -a sesame",
  ])("mask a password of letters where a program takes it, in a title: %s", async (title) => {
    const session = await sessionOf(userMessage(title));
    expect(await new SessionMasks().maskTitle(title, async () => session)).toBe(title.replace("sesame", "[password 1]"));
  });

  test.each(["p@s5w.rd!x", "7!x9#Qz$", "Tr0ub!dor&3", "a-1!b+2?c"])(
    "mask the password %s, which has symbols, in a title",
    async (password) => {
      const session = await sessionOf(userMessage(`{"password": "${password}"}`));
      expect(await new SessionMasks().maskTitle(`Use ${password} there`, async () => session)).toBe("Use [password 1] there");
    },
  );
});

test("a member that a sibling names is masked: name and value, as Kubernetes and ECS write them", async () => {
  const session = await sessionOf(message([call("c1", "deploy", { env: [{ name: "DB_PASSWORD", value: "it is long" }] })]));
  expect((await collected(exportBough(session))).join("")).not.toContain("it is long");
});

describe.each(EXPORTS)("by default %s", (_name, exported) => {
  test("is masked, and secrets: keep keeps all", async () => {
    const session = await sessionOf(userMessage(`use ${TOKEN}`));
    expect((await collected(exported(session, {}))).join("")).not.toContain(TOKEN);
    expect((await collected(exported(session, { secrets: "keep" }))).join("")).toContain(TOKEN);
  });
});

describe("a Markdown export", () => {
  test("masks by default, and says so in its last line", async () => {
    const session = await sessionOf(userMessage(`${TOKEN} and ghs_${word(36)} and https://me:hunter22@git.example`));
    expect((await collected(exportMarkdown(session))).join("")).toMatch(
      /\n\*3 secrets masked: 2 GitHub tokens, 1 password in a URL\.\*\n$/,
    );
  });

  test("counts only secrets whose masks it shows", async () => {
    const session = await sessionOf(message([call("c1", "bash", { command: "cat x" })]), toolResult("c1", `glpat-${word(20)}`));
    const text = (await collected(exportMarkdown(session, { toolOutput: "none" }))).join("");
    expect(text).toMatch(/\*1 secret masked: 1 GitHub token\.\*\n$/);
  });

  test("gives a secret the same number on every branch", async () => {
    const session = await sessionOf(userMessage(`first ${TOKEN}`), userMessage("second"));
    const [first] = await collected(session.entries());
    await session.moveLeaf(null);
    await session.append(userMessage(`other branch: ghs_${word(36)}`));
    const other = (await collected(exportMarkdown(session))).join("");
    expect(other).toContain("other branch: [GitHub token 2]");
    expect((await collected(exportMarkdown(session, { branch: first?.id }))).join("")).toContain("first [GitHub token 1]");
  });
});

describe("JSONL with masks", () => {
  test.each(EXPORTS.slice(1))("is a valid session: %s", async (_name, exported) => {
    const session = await sessionOf(...Object.values(PLACES).flatMap((entries) => entries(TOKEN)));
    const path = join(tempFolder(), "session.jsonl");
    writeFileSync(path, (await collected(exported(session, { secrets: "mask" }))).join(""));
    const { sessions } = await importPath(await openedStore(), path);
    expect(sessions).toMatchObject([{ sessionId: session.id, problemCount: 0 }]);
  });
});
