import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { hasRealSession } from "../../.ci/real-sessions.mjs";

const figures = z.object({ prompts: z.number(), right: z.number(), others: z.number(), othersGiven: z.number() });

test.runIf(hasRealSession())(
  "a hook gives the right passage to two thirds of the prompts that refer to earlier work, and anything to one in twenty of the others",
  () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(new URL("memory.mjs", import.meta.url)), "--json"], {
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    const { prompts, right, others, othersGiven } = figures.parse(JSON.parse(stdout));
    expect(prompts).toBeGreaterThan(90);
    expect(right / prompts).toBeGreaterThanOrEqual(2 / 3);
    expect(othersGiven / others).toBeLessThanOrEqual(1 / 20);
  },
);
