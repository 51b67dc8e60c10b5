import { afterEach, expect, test, vi } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown } from "../world/session.js";

// In a worker of its own: a table that another test has loaded stays loaded.

afterEach(() => void vi.doUnmock("js-tiktoken/ranks/cl100k_base"));

test("a token table that cannot be loaded fails that request, and the next one loads it again", async () => {
  vi.doMock("js-tiktoken/ranks/cl100k_base", () => {
    throw new Error("the disk is gone");
  });
  const { session } = await grown("u1");
  const compactor = createCompactor({ session, contextWindow: 3_000, settings: { tokenizer: "cl100k_base" } });
  await expect(compactor.prepareRequest()).rejects.toThrow();
  await compactor.close();
  vi.doUnmock("js-tiktoken/ranks/cl100k_base");
  expect(await compactor.prepareRequest()).toMatchObject({ fits: true });
  await compactor.close();
});
