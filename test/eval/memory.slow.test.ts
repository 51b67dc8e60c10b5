import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { hasRealSession } from "../../.ci/real-sessions.mjs";

const counted = z.object({ prompts: z.number(), right: z.number(), others: z.number(), othersGiven: z.number() });
const figures = z.object({ seed: z.number(), shipped: counted, heldOut: z.array(counted).length(2) });

test.runIf(hasRealSession())(
  "a hook gives the right passage to two thirds of the prompts that refer to earlier work, and anything to one in twenty of the others",
  () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(new URL("memory.mjs", import.meta.url)), "--json"], {
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    const { seed, shipped, heldOut } = figures.parse(JSON.parse(stdout));
    process.stderr.write(`[memory] halves by seed ${seed}: ${JSON.stringify(heldOut)}\n`);
    expect(shipped.prompts).toBeGreaterThan(90);
    expect(shipped.right / shipped.prompts).toBeGreaterThanOrEqual(2 / 3);
    expect(shipped.othersGiven / shipped.others).toBeLessThanOrEqual(1 / 20);
    // Judged where the least score was not chosen, both halves together.
    const sum = (pick: (one: z.output<typeof counted>) => number) => heldOut.reduce((total, one) => total + pick(one), 0);
    expect(sum(({ right }) => right) / sum(({ prompts }) => prompts)).toBeGreaterThanOrEqual(2 / 3);
    expect(sum(({ othersGiven }) => othersGiven) / sum(({ others }) => others)).toBeLessThanOrEqual(1 / 20);
  },
);
