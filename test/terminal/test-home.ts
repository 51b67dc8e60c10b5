import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assistantMessage, openStore, type Session, type Store, userMessage } from "@bough/session-core";
import { isServerUrl } from "@bough/session-core/engine";
import { onTestFinished } from "vitest";
import { ON_SERVER, serverUrl } from "../../.ci/test-engine.js";
import { TerminalProgram } from "./terminal-program.js";

/** The command as it is published; `npm test` builds it first. */
export const BOUGH = fileURLToPath(new URL("../../packages/cli/dist/bough.js", import.meta.url));

/** A home with a store in it, and programs in terminals on it. Everything goes away with the test. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-terminal-"));
  /** The value of `BOUGH_STORE`: the path of a file, or a URL where the tests run on a server. */
  readonly store = ON_SERVER ? serverUrl() : join(this.folder, "sessions.db");

  /** The environment of what runs here. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { BOUGH_STORE: this.store, HOME: this.folder, LANG: "C.UTF-8", ...more };
  }

  /** Starts `bough ARGS` in a terminal of this size, behind a shell that says when it has ended. */
  async terminal(
    args: string,
    { columns = 100, rows = 30, env = {} }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
  ) {
    const program = TerminalProgram.start({ columns, rows, cwd: this.folder, env: this.env(env) });
    onTestFinished(() => program.end());
    await program.until((screen) => screen.includes("$"));
    program.type(`clear; '${process.execPath}' '${BOUGH}' ${args}; echo "ended with $?"`);
    program.press("Enter");
    return program;
  }

  /** Runs a command here to its end; what it printed. */
  bough(...args: readonly string[]): string {
    return execFileSync(process.execPath, [BOUGH, ...args], {
      cwd: this.folder,
      env: { PATH: process.env["PATH"] ?? "", ...this.env() },
      encoding: "utf8",
    });
  }

  #open(): Promise<Store> {
    return openStore(isServerUrl(this.store) ? { url: this.store } : { path: this.store, durability: "normal" });
  }

  /** Works on the store as another program does. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await this.#open();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** Works on a session as another program does. */
  withSession<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    return this.withStore(async (store) => work(await store.openSession(id)));
  }

  /** A session "Parser" of this folder with two branches below a2; its leaf is at the end of the second. */
  async parser(): Promise<void> {
    const store = await this.#open();
    const session = await store.createSession({ id: "parser-1", title: "Parser", cwd: this.folder });
    const append = async (id: string) =>
      session.append({ ...(id.startsWith("u") ? userMessage(`said in ${id}`) : assistantMessage(`replied in ${id}`)), id });
    for (const id of ["u1", "a1", "u2", "a2", "u3", "a3"]) await append(id);
    await session.moveLeaf("a2");
    for (const id of ["u4", "a4"]) await append(id);
    await store.close();
  }
}

/** A home for one test. */
export function home(): Home {
  const made = new Home();
  onTestFinished(() => removeFolder(made.folder));
  return made;
}

/**
 * Removes a folder in which a program whose terminal has ended may still close its store. Each attempt lists the folder again;
 * the retries of `rmSync` do not, and fail when a file is made between their listing and their `rmdir`.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 200) throw error;
      await setTimeout(50);
    }
  }
}

/** An OpenAI-compatible server on loopback; `answer` sends the pieces of each reply. */
export async function modelServer(answer: (prompt: string, send: (text: string) => void) => Promise<"done" | "drop">) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
    const prompt = JSON.stringify(messages.at(-1)?.content ?? "");
    asked.push(prompt);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const end = await answer(prompt, (text) => chunk(response, { content: text }));
    // The connection ends in the middle of the stream; what was written before arrives. Node corks the socket behind a
    // write, and some versions drop what is corked when the socket ends: it ends once this comment line is flushed.
    if (end === "drop") response.write(": end\n\n", () => response.socket?.end());
    else {
      chunk(response, {}, "stop");
      response.end("data: [DONE]\n\n");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, env: { BOUGH_MODEL: "test-model", BOUGH_BASE_URL: `http://127.0.0.1:${port}/v1` } };
}

function chunk(response: ServerResponse, delta: object, finish: string | null = null): void {
  const choice = { index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish };
  const usage = finish === null ? {} : { usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } };
  response.write(
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice], ...usage })}\n\n`,
  );
}
