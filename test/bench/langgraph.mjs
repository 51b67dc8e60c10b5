import { statSync } from "node:fs";
import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore } from "@bough/session-core";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import Database from "better-sqlite3";
import { alternate, median } from "./measure.mjs";

export const title = "langgraph";

const CONFIG = { configurable: { thread_id: "t" } };
/** Turns that are timed at the end of a thread. */
const TIMED = 30;

/** Threads of a graph with one model, compared with a checkpointer that stores the whole state in a row for each checkpoint. */
export async function run({ report, stores, quick }) {
  for (const turns of quick ? [40] : [100, 400]) {
    const paths = { ours: stores.path(`langgraph-${turns}.db`), whole: stores.path(`langgraph-whole-${turns}.db`) };
    const store = await openStore({ path: paths.ours, durability: "normal" });
    const file = openWhole(paths.whole);
    const ours = chat(new BoughSaver(store));
    const whole = chat(new WholeStateSaver(file));
    const { turn, wholeTurn } = await alternate(
      { turn: { run: (round) => ours(round) }, wholeTurn: { run: (round) => whole(round) } },
      { rounds: TIMED, warmUp: turns - TIMED },
    );
    const { read, wholeRead } = await alternate(
      {
        read: { run: () => new BoughSaver(store).getTuple(CONFIG) },
        wholeRead: { run: () => new WholeStateSaver(file).getTuple(CONFIG) },
      },
      { rounds: quick ? 10 : 40, warmUp: 5 },
    );
    await store.pack();
    await store.close();
    file.close();
    const [size, wholeSize] = [paths.ours, paths.whole].map((path) => statSync(path).size / 1e6);
    const what = `${turns} turns`;
    report.quotient("LangGraph thread: file, against whole states", what, size, wholeSize, quick ? null : 0.25, "MB");
    report.ratio("LangGraph thread: a turn, against whole states, normal", what, median(turn), median(wholeTurn), 2);
    report.ratio("LangGraph thread: newest checkpoint, nothing cached", what, median(read), median(wholeRead), 2);
  }
}

/** A graph that answers a question; `run(n)` is one turn. */
function chat(checkpointer) {
  const answer = (n) => new AIMessage({ id: `a${n}`, content: `Answer ${n}: ${"the lexer counts a tab as one column ".repeat(6)}` });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => ({ messages: [answer(messages.length)] }))
    .addEdge(START, "agent")
    .compile({ checkpointer });
  return (n) =>
    graph.invoke({ messages: [new HumanMessage({ id: `h${n}`, content: `Question ${n}: ${"why is that so ".repeat(8)}` })] }, CONFIG);
}

function openWhole(path) {
  const file = new Database(path);
  file.pragma("journal_mode = WAL");
  file.pragma("synchronous = NORMAL");
  file.exec("CREATE TABLE checkpoint (id TEXT PRIMARY KEY, parent TEXT, state BLOB, metadata BLOB) STRICT");
  file.exec(
    "CREATE TABLE write (checkpoint TEXT, task TEXT, idx INTEGER, channel TEXT, value BLOB, PRIMARY KEY (checkpoint, task, idx)) STRICT",
  );
  return file;
}

/** What most checkpointers do: the whole state is serialized into a row. */
class WholeStateSaver extends BaseCheckpointSaver {
  constructor(file) {
    super();
    this.insert = file.prepare("INSERT INTO checkpoint VALUES (?, ?, ?, ?)");
    this.insertWrite = file.prepare("INSERT OR REPLACE INTO write VALUES (?, ?, ?, ?, ?)");
    this.newest = file.prepare("SELECT * FROM checkpoint ORDER BY id DESC LIMIT 1");
    this.writes = file.prepare("SELECT * FROM write WHERE checkpoint = ?");
  }

  async put(config, checkpoint, metadata) {
    const [[, state], [, about]] = [await this.serde.dumpsTyped(checkpoint), await this.serde.dumpsTyped(metadata)];
    this.insert.run(checkpoint.id, config.configurable.checkpoint_id ?? null, Buffer.from(state), Buffer.from(about));
    return { configurable: { ...CONFIG.configurable, checkpoint_ns: "", checkpoint_id: checkpoint.id } };
  }

  async putWrites(config, writes, task) {
    for (const [at, [channel, value]] of writes.entries()) {
      const [, bytes] = await this.serde.dumpsTyped(value);
      this.insertWrite.run(config.configurable.checkpoint_id, task, at, channel, Buffer.from(bytes));
    }
  }

  async getTuple() {
    const row = this.newest.get();
    if (row === undefined) return undefined;
    const load = (bytes) => this.serde.loadsTyped("json", bytes);
    const pendingWrites = [];
    for (const { task, channel, value } of this.writes.all(row.id)) pendingWrites.push([task, channel, await load(value)]);
    const config = { configurable: { ...CONFIG.configurable, checkpoint_ns: "", checkpoint_id: row.id } };
    return { config, checkpoint: await load(row.state), metadata: await load(row.metadata), pendingWrites };
  }
}
