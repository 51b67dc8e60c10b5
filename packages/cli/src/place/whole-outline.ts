import type { OutlineRow, Session } from "@bough/session-core";

/** Rows that are read at once: enough that pages cost nothing, few enough that none is large. */
const PAGE = 5000;

/** The whole outline of a session, parents first. */
export async function wholeOutline(session: Session): Promise<readonly OutlineRow[]> {
  const rows: OutlineRow[] = [];
  for (let afterSeq = 0; ; ) {
    const page = await session.outline({ afterSeq, limit: PAGE });
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return rows;
    afterSeq = last.seq;
  }
}
