/** What the adapter takes from LangGraph. */
export { BaseCheckpointSaver, maxChannelVersion, TASKS, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
