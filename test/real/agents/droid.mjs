// Droid (Factory): a tree of messages with Anthropic's blocks below ~/.factory/sessions. It writes the use of a session, not of each request.
// `droid exec` goes on with a session only with an account, so several turns need its JSON-RPC mode. A compaction, a fork and a rewind are new sessions there.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { filesBelow, jsonLines, newCount } from "../count.mjs";
import { install, platformFile } from "../install.mjs";
import { RpcClient } from "../line-client.mjs";

export const droid = {
  name: "droid",
  title: "Droid",
  reportsCacheWrites: false,

  install() {
    // Above 0.215.0 the package `droid`, which only starts this program, is not in the registry.
    const installed = install("droid", [`@factory/cli-${process.platform}-${process.arch}@0.225.2`]);
    return { ...installed, program: platformFile(installed, "@factory/cli", "bin/droid") };
  },

  configure(home, url) {
    mkdirSync(home.path(".factory"));
    const model = {
      model: "scripted",
      displayName: "scripted",
      baseUrl: `${url}/v1`,
      apiKey: "none",
      provider: "generic-chat-completion-api",
    };
    writeFileSync(home.path(".factory", "settings.json"), JSON.stringify({ customModels: [{ ...model, maxOutputTokens: 8000 }] }));
  },

  steps(home, { program }) {
    let compacted = "";
    const run = (prompt) => home.run([program, ...EXEC, prompt]);
    const inOneProcess = async (work) => {
      const droid = new DroidClient(
        home.start([program, ...EXEC, "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]),
      );
      await work(droid);
      await droid.close();
    };
    return {
      "a turn with calls": () => run("PROMPT-1 about @notes.txt CHAIN[3]"),
      "calls in one reply": () => run("PROMPT-2 PAIR"),
      "a compaction between turns": () =>
        inOneProcess(async (droid) => {
          await droid.call("droid.initialize_session", settingsOfSession(home));
          await droid.turn("PROMPT-3 CHAIN[2]");
          ({ newSessionId: compacted } = await droid.call("droid.compact_session", {}));
        }),
      "a turn after the compaction": () =>
        inOneProcess(async (droid) => {
          await droid.call("droid.load_session", { sessionId: compacted });
          await droid.turn("PROMPT-4 CHAIN[1]");
        }),
      "a fork and a rewind": () =>
        inOneProcess(async (droid) => {
          const { sessionId } = await droid.call("droid.initialize_session", settingsOfSession(home));
          await droid.turn("PROMPT-5 CHAIN[1]");
          const fork = await droid.call("droid.fork_session", {});
          const messageId = await droid.turn("PROMPT-6");
          const files = { filesToRestore: [], filesToDelete: [] };
          const rewound = await droid.call("droid.execute_rewind", { sessionId, messageId, ...files, forkTitle: "rewound" });
          for (const [{ newSessionId }, prompt] of [
            [rewound, "PROMPT-7 instead"],
            [fork, "PROMPT-8 of the fork"],
          ]) {
            await droid.call("droid.load_session", { sessionId: newSessionId });
            await droid.turn(prompt);
          }
        }),
    };
  },

  count: (home) => sessions(home).map((file) => countSession(idOf(file), jsonLines(file))),
};

const EXEC = ["exec", "--skip-permissions-unsafe", "-m", "custom:scripted-0"];

const settingsOfSession = (home) => ({
  machineId: "local",
  cwd: home.project,
  modelId: "custom:scripted-0",
  skipPermissionsUnsafe: true,
});

/** A process that runs several turns, and goes from one session to another. */
class DroidClient extends RpcClient {
  constructor(child) {
    super(child, PROTOCOL);
  }

  /** Sends a prompt and waits for the end of its turn. Resolves with the id of its message. */
  async turn(text) {
    const messageId = randomUUID();
    const end = this.next(({ params }) => params?.notification?.type === "agent_turn_completed");
    await this.call("droid.add_user_message", { messageId, text });
    await end;
    return messageId;
  }
}

const PROTOCOL = { type: "request", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.206.0" };

const sessions = (home) => filesBelow(home.path(".factory", "sessions"), ".jsonl");

const idOf = (file) => basename(file, ".jsonl");

function countSession(id, records) {
  const count = newCount(id);
  for (const { type, id: key, message } of records) {
    if (type !== "message") continue;
    const text = message.content
      .flatMap((block) => (block.type === "text" && !block.text.startsWith("<system-") ? [block.text] : []))
      .join("\n");
    if (message.role === "assistant") count.replies.push({ key, text, usage: null });
    else if (text !== "") count.prompts.push(text);
    count.calls.push(...message.content.filter((block) => block.type === "tool_use").map((block) => block.id));
    const results = message.content.filter((block) => block.type === "tool_result");
    count.results.push(...results.map((block) => ({ id: block.tool_use_id, text: block.content })));
  }
  return count;
}
