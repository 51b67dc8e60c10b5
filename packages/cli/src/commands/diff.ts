import { fileLists, type OutlineRow, type Session, SessionNotFoundError, type Store } from "@bough/session-core";
import { UsageError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { readOutline } from "../session/paging.js";
import { sessionTitle } from "../session/titles.js";
import type { Io } from "../terminal/io.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { filterBit, filterBits } from "../tree/filter.js";
import { shortIds } from "../tree/print-tree.js";
import { rowText } from "../tree/row-text.js";
import type { Command } from "./command.js";
import { changedFiles, printFiles, printTexts, type Rest } from "./diff-texts.js";
import { pathTo } from "./log.js";

/** One of the two branches: the path to an entry of a session. */
type Side = Pick<Rest, "session" | "name" | "isEntry" | "path">;

/** `bough diff`: what each of two branches has that the other one has not. */
export const runDiff: Command = async ({ io, out, args, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const sides = await chooseSides(
      store,
      io,
      out,
      args.filter((arg) => arg !== undefined),
    );
    const shared = countShared(sides[0].path, sides[1].path);
    const [left, right] = [await restOf(sides[0], shared), await restOf(sides[1], shared)];
    const ancestor = sides[0].path[shared - 1];
    if (options.json === true)
      return out.json({
        commonAncestorId: ancestor?.id ?? null,
        sharedEntries: shared,
        left: toJson(left),
        right: toJson(right),
        filesChanged: changedFiles(left, right),
      });
    await loadExactWidths();
    out.line(...ancestorLine(ancestor, shared, out));
    await printSide(out, "-", left);
    await printSide(out, "+", right);
    await printFiles(out, left, right);
    await printTexts(out, left, right);
  });
};

/** `A B` of the default session, `SESSION A B`, `SESSION B` (with its leaf), or two sessions. */
async function chooseSides(store: Store, io: Io, out: Printer, args: readonly string[]): Promise<readonly [Side, Side]> {
  const [one, two, three] = args;
  if (one === undefined || two === undefined)
    throw new UsageError("Name two branches: bough diff A B, bough diff SESSION A B, or two sessions.");
  if (three !== undefined) {
    const { session } = await chooseSession(store, io, out, one, "store");
    return [await sideOf(session, two), await sideOf(session, three)];
  }
  const [first, second] = [await findSession(store, one), await findSession(store, two)];
  if (first !== undefined && second !== undefined) return [await sideOf(first, "@leaf", one), await sideOf(second, "@leaf", two)];
  if (first !== undefined) return [await sideOf(first, "@leaf"), await sideOf(first, two)];
  const { session } = await chooseSession(store, io, out, undefined, "store");
  return [await sideOf(session, one), await sideOf(session, two)];
}

async function findSession(store: Store, name: string): Promise<Session | undefined> {
  try {
    return await store.openSession((await store.resolveSession(name)).id);
  } catch (error) {
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

async function sideOf(session: Session, entry: string, name = entry): Promise<Side> {
  const id = entry === "@leaf" ? session.leafId : await session.resolve(entry);
  return { session, name, isEntry: entry !== "@leaf", path: pathTo(await readOutline(session), id) };
}

/** The length of the common path. Forks keep the ids of the entries that they copy. */
function countShared(a: readonly OutlineRow[], b: readonly OutlineRow[]): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared]?.id === b[shared]?.id) shared += 1;
  return shared;
}

async function restOf(side: Side, shared: number): Promise<Rest> {
  const rows = side.path.slice(shared);
  const [first, last] = [rows[0], rows.at(-1)];
  const range = first === undefined || last === undefined ? undefined : { fromId: first.id, toId: last.id };
  const operations = range === undefined ? [] : await side.session.fileOperations(range);
  const { readFiles, modifiedFiles } = fileLists(operations);
  return { ...side, rows, operations, read: readFiles, modified: modifiedFiles };
}

function toJson({ session, name, rows, read, modified }: Rest) {
  const entries = rows.map(({ id, type, role, createdAtMs, preview }) => ({ id, type, role, createdAtMs, preview }));
  return { sessionId: session.id, name, entryId: rows.at(-1)?.id ?? null, entries, filesRead: read, filesModified: modified };
}

function ancestorLine(ancestor: OutlineRow | undefined, shared: number, out: Printer): Line {
  if (ancestor === undefined) return [styled("bold", "They share no entry.")];
  const left: Line = [
    styled("bold", `${counted(shared, "entry", "entries")} in common`),
    styled("dim", `, the last one ${ancestor.id.slice(0, 8)}  `),
  ];
  return [
    ...left,
    ...fitLine(rowText(ancestor, out.width - lineWidth(left)), Math.max(out.width - lineWidth(left), 0), out.glyphs.ellipsis),
  ];
}

async function printSide(out: Printer, mark: "-" | "+", side: Rest): Promise<void> {
  const style = mark === "-" ? "removed" : "added";
  const record = await side.session.record();
  out.line();
  out.line(
    styled(style, `${mark}${mark}${mark} ${side.name}`),
    styled("dim", `  ${sessionTitle(record)}: ${counted(side.rows.length, "entry", "entries")}`),
  );
  const ids = shortIds(
    side.rows.map(({ id }) => id),
    side.path,
  );
  for (const row of side.rows.filter((one) => (filterBits(one) & filterBit("default")) !== 0)) {
    const left: Line = [
      styled(style, `${mark} `),
      styled("label", ids.get(row.id) ?? row.id),
      styled("dim", `  ${dateTime(row.createdAtMs)}  `),
    ];
    const room = Math.max(out.width - lineWidth(left), 0);
    out.line(...left, ...fitLine(rowText(row, room, out.glyphs.ellipsis), room, out.glyphs.ellipsis));
    await out.pump();
  }
}
