import { expect, test } from "vitest";
import { openStore, type UserMessage } from "../../../src/index.js";
import { newPlace } from "../../world/stores.js";

// A file of its own: the schemas load at the first write of a process, and each test file has a process of its own.
test("the first write of a process stores what was handed in, whatever the caller changes while the schemas load", async () => {
  const store = await openStore(newPlace());
  const session = await store.createSession();
  const message: UserMessage = { role: "user", content: "as it was handed in" };
  const appended = session.append({ type: "message", message });
  message.content = "changed after the call";
  await appended;
  expect((await session.path())[0]).toMatchObject({ message: { content: "as it was handed in" } });
  await store.close();
});
