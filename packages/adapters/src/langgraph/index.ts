export { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
export { CheckpointUnreadableError } from "./errors.js";
export { BoughSaver } from "./saver.js";
