/** The values of LangGraph that the adapter uses. */
export { BaseCheckpointSaver, maxChannelVersion, TASKS, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
