// The subpath `@bough/session-core/copies`: a copy between two stores of which another process serves one, as `bough copy` does over ssh.
// `copySessions` of the main entry copies between two stores of this process.
export { CopyDiffersError, InvalidCopyError, SessionChangedError } from "./errors/copy-errors.js";
export type { CopiedEntry, CopiedPart, CopiedState, SessionCopies } from "./port/session-copy.js";
export { parseCopiedEntries, parseCopiedPart, parseCopiedState } from "./rules/copied-schema.js";
export { judgedCopies } from "./rules/copy-judge.js";
export { type CopyPlace, digestOfEntries, digestOfSession, digestOfState, type FarDigests, placeOf } from "./store/copy-place.js";
export { copyBetween } from "./store/copy-sessions.js";
