import { loadFramework } from "../peer.js";

/** What the adapter takes from LangGraph, loaded when the adapter is. */
export const { BaseCheckpointSaver, maxChannelVersion, TASKS, WRITES_IDX_MAP } = await loadFramework(
  {
    name: "@langchain/langgraph-checkpoint",
    range: "^1.1.4",
    uses: ["BaseCheckpointSaver", "maxChannelVersion", "TASKS", "WRITES_IDX_MAP"],
  },
  () => import("@langchain/langgraph-checkpoint"),
);
