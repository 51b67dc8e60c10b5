// `@bough/adapters/pi`: sessions of pi-agent-core.

export { FrameworkMissingError, FrameworkVersionError } from "../peer.js";
export { BoughSessionRepo, type PiCreateOptions, type PiListOptions } from "./repo.js";
export { BoughPiStorage, type PiStorageOptions } from "./storage.js";
