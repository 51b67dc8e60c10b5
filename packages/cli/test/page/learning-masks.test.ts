import { execFileSync } from "node:child_process";
import { openStore, userMessage } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { LearningMasks } from "../../src/page/learning-masks.js";
import { world } from "../world.js";

const EXECUTE = 'new (require("better-sqlite3"))(process.argv[1]).exec(process.argv[2])';

test("a long session that could not be read once is searched for secrets when it can be", async () => {
  const { store: path } = world();
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(() => store.close());
  const session = await store.createSession({ id: "long" });
  await session.append(userMessage('{"password": "q7ZpW4vKx2LmN8sRt5Yb"}'));
  const execute = (sql: string) => execFileSync(process.execPath, ["-e", EXECUTE, path, sql], { cwd: import.meta.dirname });
  let onLearned: () => void = () => undefined;
  const learned = new Promise<void>((resolve) => {
    onLearned = resolve;
  });
  const masks = new LearningMasks(session, () => onLearned());
  execute("ALTER TABLE payload RENAME TO gone");
  masks.learnLater();
  await expect(masks.learn(0)).rejects.toThrow();
  execute("ALTER TABLE gone RENAME TO payload");
  masks.learnLater();
  await learned;
  expect(masks.masker.maskLine("It is q7ZpW4vKx2LmN8sRt5Yb")).toBe("It is [password 1]");
});
