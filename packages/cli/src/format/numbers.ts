export { bytes, count, counted, dollars } from "@bough/session-core/view";
