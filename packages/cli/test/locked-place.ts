import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

/** The command as it is published: the bundle, in a process of its own. */
export const BOUGH = fileURLToPath(new URL("../dist/bough.js", import.meta.url));
export const KEY = 'the key\'s "text" with ü and $HOME';
export const OTHER = "another long key";
export const SECRET = "no-byte-of-this-is-on-the-disk";

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home with a session of Claude Code, and a folder for stores. Both go away with the test. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-locked-"));
  readonly home = join(this.folder, "home");
  readonly stores = join(this.folder, "stores");
  readonly store = join(this.stores, "sessions.db");
  readonly transcript = join(this.home, ".claude", "projects", "-p", "11111111-1111-4111-8111-111111111111.jsonl");

  /** `store`: the bytes of the store that is there from the start. */
  constructor(store?: Buffer) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    for (const folder of [this.stores, join(this.home, ".claude", "projects", "-p")]) mkdirSync(folder, { recursive: true });
    writeFileSync(this.transcript, `${line("a", null, SECRET)}\n`);
    if (store !== undefined) writeFileSync(this.store, store);
  }

  env(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return { PATH: process.env["PATH"], HOME: this.home, BOUGH_STORE: this.store, LC_ALL: "C.UTF-8", ...more };
  }

  /** Runs a command to its end; no key may be in what it prints. `flags`: of Node. */
  run(args: readonly string[], more: Readonly<Record<string, string>> = {}, input = "", flags: readonly string[] = []): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, BOUGH, ...args], {
      env: this.env(more),
      cwd: this.home,
      encoding: "utf8",
      input,
      timeout: 60_000,
    });
    for (const key of [KEY, OTHER]) expect(`${stdout}${stderr}`).not.toContain(key);
    return { status, stdout, stderr };
  }

  /** Files of the stores in which the text of the sessions can be read. */
  readable(): readonly string[] {
    return readdirSync(this.stores).filter((name) => readFileSync(join(this.stores, name)).includes(SECRET));
  }
}

/** A line of a session of Claude Code. */
export function line(id: string, parent: string | null, text: string): string {
  const uuid = `${id.repeat(8)}-1111-4111-8111-111111111111`;
  const parentUuid = parent === null ? null : `${parent.repeat(8)}-1111-4111-8111-111111111111`;
  return JSON.stringify({
    type: "user",
    uuid,
    parentUuid,
    sessionId: "11111111-1111-4111-8111-111111111111",
    cwd: "/p",
    version: "2.0.0",
    timestamp: "2025-11-21T12:00:00.000Z",
    message: { role: "user", content: text },
  });
}

/** What a command that fails has printed: one line with the code. */
export const failed = (status: number, code: string) => ({
  status,
  stdout: "",
  stderr: expect.stringMatching(new RegExp(`^bough: [^\\n]*\\(${code}\\)\\n$`)),
});
/** What a command that succeeds has printed. */
export const done = (text: string) => ({ status: 0, stdout: expect.stringContaining(text), stderr: expect.not.stringMatching(/bough:/) });

/** Waits until a stream has said something new. */
export function said(stream: NodeJS.ReadableStream, what: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const listen = (chunk: unknown) => {
      text += String(chunk);
      if (!what.test(text)) return;
      stream.off("data", listen);
      resolve(text);
    };
    stream.on("data", listen);
    stream.once("end", () => reject(new Error(`It ended and said: ${text}`)));
  });
}
