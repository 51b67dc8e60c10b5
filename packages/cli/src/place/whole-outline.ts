import type { OutlineRow, Session } from "@bough/session-core";

/** Rows that are read at once: enough that pages cost nothing, few enough that none is large. */
const PAGE = 5000;

/** The whole outline of a session, parents first; `after`: only what arrived after this sequence number. */
export async function wholeOutline(session: Session, after = 0): Promise<readonly OutlineRow[]> {
  const rows: OutlineRow[] = [];
  for (let afterSeq = after; ; ) {
    const page = await session.outline({ afterSeq, limit: PAGE });
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return rows;
    afterSeq = last.seq;
  }
}
