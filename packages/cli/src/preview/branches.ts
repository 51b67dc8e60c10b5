import type { Session } from "@bough/session-core";
import type { Line } from "../terminal/line.js";
export async function loadBranchOverview(_session: Session, _id: string): Promise<readonly Line[]> {
  return [];
}
export function branchLines(overview: readonly Line[], _width: number): readonly Line[] {
  return overview;
}
