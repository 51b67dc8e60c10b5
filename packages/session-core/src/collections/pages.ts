/**
 * Iterates over the pages of `session.scan`, `store.listSessions` or a search. A page is read when the loop requests it, so a loop
 * that ends early reads no further.
 *
 * @param read Reads the page at a cursor; the first page without one.
 * @example
 * for await (const { items } of pagesOf((cursor) => store.listSessions({ limit: 50, cursor }))) console.log(items.length);
 */
export async function* pagesOf<P extends { readonly next: string | null }>(
  read: (cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor);
    yield page;
    if (page.next === null) return;
    cursor = page.next;
  }
}
