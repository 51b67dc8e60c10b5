import { imported, sourceOf } from "../../../formats/test/world/sources.js";
import { userMessage } from "../../src/index.js";
import type { Store } from "../../src/store/store.js";

/** Every kind of write to a store with the session `s` and its entry `u1`. */
export function allWrites(store: Store): readonly (() => Promise<unknown>)[] {
  const session = () => store.openSession("s");
  return [
    async () => (await session()).append(userMessage("more")),
    async () => (await session()).write([{ kind: "value", key: "k", value: 1 }]),
    async () => (await session()).labels.set("u1", "label"),
    async () => (await session()).values.set("k", 1),
    async () => (await session()).moveLeaf(null),
    async () => (await session()).undoMove(),
    async () => (await session()).tokenCounts.save("words", new Map([["u1", 1]])),
    () => store.openSession("s", { leaf: "other" }),
    () => store.createSession(),
    () => store.openOrCreateSession("new"),
    () => store.forkSession("s"),
    () => store.renameSession("s", "title"),
    () => store.archiveSession("s"),
    () => store.deleteSession("s"),
    () => imported(store, sourceOf("u1 a1", [], { sessionId: "imported" })),
    () => store.storage.setSourceFiles([{ path: "/home/ada/x", stamp: "1", format: null }]),
  ];
}
