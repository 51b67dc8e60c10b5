export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
export { CheckpointUnreadableError } from "./errors.js";
export { BaseCheckpointSaver } from "./framework.js";
export { BoughSaver } from "./saver.js";
