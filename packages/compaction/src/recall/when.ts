import { isoOf } from "../checkpoints/checkpoint-file.js";

/** A time to the minute, in UTC. */
export function when(ms: number): string {
  return isoOf(ms)?.slice(0, 16).replace("T", " ") ?? "time unknown";
}
