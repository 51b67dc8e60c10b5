import { expect, test } from "vitest";
import { userMessage } from "../../../src/entry/builders.js";
import { UnserializableValueError } from "../../../src/errors/session-errors.js";
import type { Write } from "../../../src/port/writes.js";
import { grow } from "../../world/grow.js";

test("a write that waits for another one is written as it was when it was handed in", async () => {
  const { session } = await grow("");
  const message = userMessage("as said");
  const writes: Write[] = [{ kind: "entry", entry: message }];
  const first = session.append(userMessage("first"));
  const second = session.write(writes);
  Object.assign(message, { message: { role: "user", content: "changed" } });
  writes.push({ kind: "entry", entry: userMessage("more") });
  await Promise.all([first, second]);
  expect(await session.path()).toMatchObject([{ message: { content: "first" } }, { message: { content: "as said" } }]);
});

test("a value that JSON cannot hold is refused by its own name, also where the write waits", async () => {
  const { session } = await grow("");
  const first = session.append(userMessage("first"));
  const second = session.append({ type: "custom", customType: "x", data: 1n });
  await expect(second).rejects.toThrow(expect.objectContaining({ path: "entry.data" }));
  await first;
});

const hidden = Object.defineProperty({ a: 1 }, "toJSON", { value: () => "other" });
const classless = Object.assign(Object.create({ inherited: { deep: 1 } }) as object, { constructor: undefined });

test.each([
  ["a hidden toJSON", hidden],
  ["an array with a toJSON", Object.assign([1], { toJSON: () => "other" })],
  ["an instance without a constructor", classless],
])("%s is refused, because something else would be kept", async (_what, data) => {
  const { session } = await grow("");
  await expect(session.append({ type: "custom", customType: "x", data })).rejects.toThrow(UnserializableValueError);
});
