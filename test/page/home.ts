import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@bough/session-core";
import { afterAll } from "vitest";

export const BOUGH = join(import.meta.dirname, "../../packages/cli/dist/bough.js");
export const SAMPLE = join(import.meta.dirname, "../../packages/cli/demo/sample.jsonl");

/** A folder with a store for the tests of a file. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-page-"));
  readonly store = join(this.folder, "sessions.db");
  /** More variables of the environment of commands. */
  readonly variables: Record<string, string> = {};

  constructor() {
    afterAll(() => rmSync(this.folder, { recursive: true }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** The environment of a command that runs here. */
  get env(): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.folder, BOUGH_STORE: this.store, TZ: "UTC", ...this.variables };
  }

  /** Runs a command to its end; what it printed. */
  bough(...args: readonly string[]): string {
    return execFileSync(process.execPath, [BOUGH, ...args], {
      env: this.env,
      cwd: this.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Exports a session as a page; returns its file. */
  page(session: string, ...options: readonly string[]): string {
    const file = this.path(`${session}.html`);
    this.bough("export", session, "--html", file, "--force", ...options);
    return file;
  }

  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore({ path: this.store, durability: "normal" });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}
