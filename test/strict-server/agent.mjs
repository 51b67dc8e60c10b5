// An agent whose model is the strict server, in a process that can be killed. It takes up the session as the one before it left it, and
// says each step that is stored. Arguments: the store, the session, the address of the server, the name of this run, and the kind of
// step (after three others) or the number of turns after which it stops: as a person's machine, it does not end then.
import { writeSync } from "node:fs";
import { createCompactor } from "@bough/compaction";
import { fromAnthropic, openStore, toAnthropic, toolCallsOf, toolResult, userMessage } from "@bough/session-core";

const [path, sessionId, url, run, end] = process.argv.slice(2);
const MODEL = { provider: "anthropic", modelId: "claude-fable-5-1" };
const store = await openStore({ path });
const session = await store.openSession(sessionId);
const compactor = createCompactor({ session, contextWindow: 16_384, model: MODEL, settings: { tokenizer: "rough" } });

let steps = 0;

async function say(step) {
  writeSync(1, `${step}\n`);
  steps += 1;
  if (step === end && steps > 3) await stop();
}

/** Holds the process until it is killed. */
async function stop() {
  writeSync(1, "stopped\n");
  setInterval(() => undefined, 1_000_000);
  await new Promise(() => undefined);
}

async function ask() {
  const { context } = await compactor.prepareRequest();
  const body = { model: MODEL.modelId, system: "You edit.", messages: toAnthropic(context).messages };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers: { "x-api-key": "account-1" }, body: JSON.stringify(body) });
  const reply = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(reply));
  return fromAnthropic(reply);
}

for (let turn = 0; String(turn) !== end; turn += 1) {
  await session.append(userMessage(`Change module ${run}.${turn}. ${"Keep the comments of each file. ".repeat(20)}`));
  await say("prompt");
  for (let calls = [{}]; calls.length > 0; ) {
    const reply = await ask();
    await session.append(reply);
    calls = toolCallsOf(reply);
    await say(calls.length > 0 ? "call" : "answer");
    for (const { id, name } of calls) {
      await session.append(toolResult(id, `${run} ${turn} ${id}: ${"a line of the file\n".repeat(150)}`, { toolName: name }));
      await say("result");
    }
  }
  await compactor.turnEnded();
}
await stop();
