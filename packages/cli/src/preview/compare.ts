import type { Session } from "@bough/session-core";
import type { Line } from "../terminal/line.js";
export async function loadComparison(_s: Session, _a: string, _b: string): Promise<readonly Line[]> {
  return [];
}
export function comparisonLines(c: readonly Line[], _w: number): readonly Line[] {
  return c;
}
