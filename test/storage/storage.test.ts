import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { readsContract } from "./reads-contract.js";
import { openedStore, storageContract } from "./storage-contract.js";
import { writesContract } from "./writes-contract.js";

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-storage-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storageContract("SQLite in memory", { open: () => openedStore(":memory:") });
readsContract("SQLite in memory", () => openedStore(":memory:"));
writesContract("SQLite in memory", () => openedStore(":memory:"));

const path = () => join(folder, `${files}.db`);
storageContract("SQLite in a file", {
  open: () => {
    files += 1;
    return openedStore(path());
  },
  reopen: () => openedStore(path()),
});
