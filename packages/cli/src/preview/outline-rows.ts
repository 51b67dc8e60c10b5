import type { EntryId, OutlineRow, Session } from "@bough/session-core";

const PAGE = 10_000;

/** The rows of a session that arrived after `afterSeq` and not after `lastSeq`, in order; a page of 10,000 at a time. */
export async function* rowsAfter(
  session: Session,
  afterSeq: number,
  lastSeq = Number.POSITIVE_INFINITY,
): AsyncGenerator<OutlineRow, void, void> {
  for (let after = afterSeq; ; ) {
    const page = await session.outline({ afterSeq: after, limit: PAGE });
    for (const row of page) {
      if (row.seq > lastSeq) return;
      yield row;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}

/** Whether it is what a person or a model said. */
export function isMessage({ role }: OutlineRow): boolean {
  return role === "user" || role === "assistant";
}

/** The order of arrival of an entry; 0, which is before every one, for null. */
export async function seqOf(session: Session, id: EntryId | null): Promise<number> {
  return id === null ? 0 : (await session.entry(id)).seq;
}
