import { assistantMessage, type EntryInput, toolResult, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { openedStore } from "../../../session-core/test/world/stores.js";
import { findSecrets } from "../../src/secrets/find-secrets.js";
import { SessionMasks } from "../../src/secrets/session-masks.js";
import { TOKEN_RULES } from "../../src/secrets/token-rules.js";

// Put together at run time, so that no scanner takes them for real ones.
const KEYS = [1, 2, 3].map((at) => `ghp_${`Ab${at}`.repeat(12)}`);
const PASSWORDS = ["hunter22hunter33", "k7Qz2Vn9Rb4Xw", "correct-horse-7"];

const secret = fc.constantFrom(...KEYS, ...PASSWORDS);
const around = fc.constantFrom("", " ", "(", "x", "/", '"', "=", "\n", "abc12345", "…");
const piece = fc.oneof(
  fc.tuple(around, secret, around).map((parts) => parts.join("")),
  secret.map((one) => `DB_PASSWORD=${one}`),
  secret.map((one) => `{"password": "${one}"}`),
  secret.map((one) => `${one.slice(0, 9)}…`),
  fc.constantFrom("the parser", "src/lexer42.ts", "v1.20.3-beta4", "\n"),
);
const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(" "));
const entry = fc.tuple(fc.nat(2), text).map(([kind, said]): EntryInput => {
  if (kind === 0) return userMessage(said);
  return kind === 1 ? assistantMessage(said) : toolResult("c1", said);
});

const withoutNumbers = (value: unknown) => JSON.stringify(value).replace(/(\[[^\]"\\]+) \d+\]/g, "$1]");

describe("a masker for some entries of a session", () => {
  test("masks them as one that has read all of the session", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 2, maxLength: 12 }), fc.nat(), fc.nat(), async (given, one, other) => {
        const store = await openedStore();
        const session = await store.createSession();
        await session.append(given);
        const entries = await session.entriesSince(0);
        const shown = [one, other].flatMap((at) => entries[at % entries.length] ?? []);
        const bounded = await new SessionMasks().forEntries(session, shown);
        const whole = await new SessionMasks().of(session);
        for (const each of shown) expect(withoutNumbers(bounded.maskEntry(each))).toBe(withoutNumbers(whole.maskEntry(each)));
        await store.close();
      }),
      { numRuns: runs(100) },
    );
  });

  test("looks for secrets only in texts that can share one with them", async () => {
    const store = await openedStore();
    const session = await store.createSession();
    await session.append([userMessage(`use ${KEYS[0]}`), toolResult("c1", `${"output ".repeat(10_000)} ${KEYS[1]}`)]);
    const asked = await session.append(userMessage(`it was ${KEYS[0]}`));
    expect((await new SessionMasks().forEntries(session, [await session.entry(asked.id)])).learned).toBe(1);
    expect((await new SessionMasks().of(session)).learned).toBe(2);
  });
});

test("each rule for a token is tried where a text has its hint, whatever is before it", () => {
  const KEY = KEYS[0] ?? "";
  for (const { hints } of TOKEN_RULES) {
    for (const hint of hints instanceof RegExp ? [] : hints) {
      const found = findSecrets(`${hint} ${hint.slice(0, 1)}${hint} ${KEY}`);
      expect(found.map(({ kind }) => kind)).toContain("GitHub token");
    }
  }
});
