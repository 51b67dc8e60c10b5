import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCompactor } from "@bough/compaction";
import { type Message, openStore, type Session, type Store } from "@bough/session-core";
import { onTestFinished } from "vitest";
import { type ModelServer, startModelServer } from "../../../compaction/test/model/model-server.js";
import { type ChatOptions, chooseChatModel } from "../../src/agent/chat-model.js";
import type { PermissionAnswer, PermissionRequest, Permissions } from "../../src/agent/permissions.js";
import { runTurn } from "../../src/agent/turn.js";
import { appendUserMessage } from "../../src/agent/turn-branch.js";
import type { TurnEvent, TurnResult } from "../../src/agent/turn-events.js";

/** How a turn of a test differs from one without tools. */
export interface TurnCase {
  readonly permissions?: Permissions;
  readonly answer?: PermissionAnswer | ((call: PermissionRequest) => Promise<PermissionAnswer>);
  readonly model?: ChatOptions;
  readonly windowTokens?: number;
  readonly retries?: number;
  readonly maxRounds?: number;
  readonly thinking?: string;
  readonly env?: Record<string, string>;
  /** The working folder; default: that of the store. */
  readonly cwd?: string;
  /** Called with each event, and what stops the turn. */
  readonly heard?: (event: TurnEvent, stop: () => void) => void;
}

/** What a turn did. */
export interface RanTurn {
  readonly result: TurnResult;
  readonly events: readonly TurnEvent[];
  readonly asked: readonly PermissionRequest[];
}

/** A folder with a store, a session in it, and a model on this machine. */
export class Shell {
  readonly folder: string;
  readonly store: Store;
  readonly session: Session;
  readonly server: ModelServer;

  private constructor(folder: string, store: Store, session: Session, server: ModelServer) {
    this.folder = folder;
    this.store = store;
    this.session = session;
    this.server = server;
  }

  static async open(): Promise<Shell> {
    const folder = mkdtempSync(join(tmpdir(), "bough-agent-"));
    const store = await openStore({ path: join(folder, "sessions.db"), durability: "normal" });
    onTestFinished(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return new Shell(folder, store, await store.createSession({ id: "talk" }), await startModelServer());
  }

  /** A second handle on the session, as another process has one. */
  async other(): Promise<Session> {
    return this.store.openSession("talk");
  }

  /** Says something and lets the model answer. */
  async turn(text: string, about: TurnCase = {}): Promise<RanTurn> {
    await appendUserMessage(this.session, text);
    return this.goOn(about);
  }

  /** Lets the model answer what stands there. */
  async goOn({ permissions = {}, answer = "yes", model: named, windowTokens, heard, env = {}, ...rest }: TurnCase = {}): Promise<RanTurn> {
    const model = chooseChatModel({}, {}, { model: "test-model", baseUrl: this.server.baseURL, ...named });
    if (model === null) throw new TypeError("the test names a model");
    const [events, asked, controller]: [TurnEvent[], PermissionRequest[], AbortController] = [[], [], new AbortController()];
    const compactor = createCompactor({ session: this.session, contextWindow: windowTokens ?? 100_000 });
    const result = await runTurn({
      session: this.session,
      compactor,
      model,
      permissions,
      cwd: this.folder,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
      signal: controller.signal,
      now: () => 1_763_700_000_000,
      retries: 0,
      onEvent: (event) => {
        events.push(event);
        heard?.(event, () => controller.abort());
      },
      ask: async (call) => {
        asked.push(call);
        return typeof answer === "string" ? answer : answer(call);
      },
      ...rest,
    });
    await compactor.close();
    return { result, events, asked };
  }

  /** The messages of the path, as they are stored. */
  async messages(): Promise<readonly Message[]> {
    const entries = await this.session.path();
    return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  }

  /** What `verify` finds, and calls without exactly one result behind them: nothing, if all is well. */
  async problems(): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for await (const finding of this.store.verify()) found.push(finding);
    const messages = await this.messages();
    const made = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const ids = made.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const answered = messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
    if (JSON.stringify(ids) !== JSON.stringify(answered)) found.push({ calls: ids, results: answered });
    return found;
  }
}
