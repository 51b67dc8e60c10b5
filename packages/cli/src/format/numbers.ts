export { bytes, count, counted, dollars } from "@bough/session-core/internals";
