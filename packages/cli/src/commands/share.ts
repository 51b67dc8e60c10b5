import { randomBytes } from "node:crypto";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { EntryId, OutlineRow, Session, SessionRecord, Store } from "@bough/session-core";
import { bytes, counted } from "@bough/session-core/view";
import * as z from "zod";
import { loadConfig } from "../config/config-file.js";
import { CommandError, UsageError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { dateTime } from "../format/time.js";
import { lockedPage, readPagePassword } from "../page/locked-page.js";
import { pageMasks } from "../page/masks.js";
import { sessionPage } from "../page/page.js";
import { chooseSession } from "../session/choose-session.js";
import { resolveEntry, sessionName, sessionTitle, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readPath, sessionPages } from "../session/paging.js";
import { readPrices } from "../session/prices.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { truncate } from "../terminal/width.js";
import { type Command, type CommonOptions, confirm, requireArgument } from "./command.js";
import { shareTarget, takeBack } from "./share-targets.js";

interface ShareOptions extends CommonOptions {
  readonly password?: boolean;
  readonly toolOutput?: "none" | "short" | "full";
  readonly thinking?: boolean;
  readonly list?: boolean;
  readonly revoke?: string;
  readonly yes?: boolean;
}

/** The key of the value of a session with its shared pages, newest last. */
const SHARES = "bough/shares";

/** A page that was shared. `remove` says how it is taken back: a file that is deleted, or a program that is run. */
const shareSchema = z.object({
  link: z.string(),
  entryId: z.string().nullable(),
  sharedAtMs: z.number(),
  isEncrypted: z.boolean(),
  remove: z.union([z.object({ file: z.string() }), z.object({ command: z.array(z.string()).min(1) })]).nullable(),
  revokedAtMs: z.number().optional(),
});
const sharesSchema = z.array(shareSchema).catch([]);
type Share = z.output<typeof shareSchema>;

/** `bough share`: publishes a branch as a masked page at the target of the config, lists what was shared, or takes it back. */
export const runShare: Command<ShareOptions> = async (call) => {
  const { list, revoke, password } = call.options;
  if (list === true && revoke !== undefined) throw new UsageError("Give --list or --revoke, not both.");
  if ((list === true || revoke !== undefined) && password === true) throw new UsageError("--password is for a new page.");
  if (list === true) return runList(call);
  return revoke === undefined ? runPublish(call) : runRevoke(call, requireArgument(revoke));
};

const runPublish: Command<ShareOptions> = async ({ io, out, args: [name, entryName], options }) => {
  const target = shareTarget(io, (await loadConfig(io)).share);
  await withStore(io, options.store, "change", async (store) => {
    const { session, record } = await chooseSession(store, io, out, name, "directory");
    const branch = entryName === undefined ? await session.refresh() : await resolveEntry(session, out, entryName);
    const { pieces, masked } = await maskedPage(io, session, branch, options);
    const size = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    await out.note(await describeShare(store, out, record, await readPath(session, branch), { masked, size, ...options }));
    await out.flush();
    if (options.yes !== true) await confirm(io, `Share it ${target.place}`, "");
    const password = options.password === true ? await readPagePassword(io) : undefined;
    const text = password === undefined ? streamOf(pieces) : lockedPage(streamOf(pieces), password);
    const { link, remove } = await target.publish(`bough-${randomBytes(16).toString("base64url")}.html`, text);
    const share: Share = { link, entryId: branch, sharedAtMs: io.now(), isEncrypted: password !== undefined, remove };
    // Printed first: the page is public, whether it can be remembered or not.
    if (options.json === true) out.json({ sessionId: session.id, ...share });
    else out.line(link);
    await session.values.update(SHARES, (present) => [...sharesSchema.parse(present), share]);
    if (target.note !== undefined) await out.note(styled("dim", target.note));
  });
};

/** The page of a branch without secrets, whole: what it says is known before anybody agrees to share it. */
async function maskedPage(io: Io, session: Session, branch: EntryId | null, { toolOutput, thinking }: ShareOptions) {
  const masked: SecretCount[] = [];
  const page = sessionPage(session, {
    ...(await pageMasks(session, false, (counts) => masked.push(...counts))),
    leafId: branch,
    branchOnly: true,
    thinking: thinking === true,
    toolOutput: toolOutput ?? "full",
    prices: await readPrices(io),
  });
  const pieces: string[] = [];
  for await (const piece of page) pieces.push(piece);
  return { pieces, masked };
}

async function* streamOf(pieces: readonly string[]): AsyncGenerator<string, void, void> {
  yield* pieces;
}

/** Says in one line who will be able to read what. `size`: bytes of the page. */
async function describeShare(
  store: Store,
  out: Printer,
  record: SessionRecord,
  path: readonly OutlineRow[],
  { masked, size, password, toolOutput, thinking }: ShareOptions & { masked: readonly SecretCount[]; size: number },
): Promise<string> {
  const [first, last] = [path[0], path.at(-1)];
  const span = first === undefined || last === undefined ? "" : ` of ${dateTime(first.createdAtMs)} to ${dateTime(last.createdAtMs)}`;
  const parts = [
    `tool output ${toolOutput ?? "full"}`,
    thinking === true ? "with thinking" : "without thinking",
    "without private commands",
  ];
  const who = password === true ? "whoever has the link and the password" : "whoever has the link";
  const secrets = masked.length === 0 ? "no secret was found" : describeSecrets(masked, "masked");
  // A session without a title is named by its first prompt, which may be a page long.
  const name = `${truncate(sessionTitle(record), 60)} (${await shortSessionId(store, record.id, out)})`;
  return `Readable by ${who}: ${counted(path.length, "entry", "entries")}${span} from ${name}, ${parts.join(", ")} (${bytes(size)}); ${secrets}.`;
}

interface SharedPage {
  readonly session: Session;
  readonly share: Share;
}

const runList: Command<ShareOptions> = async ({ io, out, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const shares = await listShares(store);
    if (options.json === true) return out.json({ shares: shares.map(({ session, share }) => ({ sessionId: session.id, ...share })) });
    if (shares.length === 0) return out.note("Nothing was shared from this store.");
    const columns: readonly ItemColumn<SharedPage>[] = [
      { heading: "link", cell: ({ share }) => [share.link] },
      { heading: "shared", cell: ({ share }) => [dateTime(share.sharedAtMs)] },
      { heading: "session", shrinksTo: 12, cell: async ({ session }) => [await sessionName(store, await session.record(), out)] },
      { heading: "state", cell: ({ share }) => [stateOf(share)] },
    ];
    await printTable(out, columns, shares);
  });
};

function stateOf({ revokedAtMs, isEncrypted, remove }: Share): string {
  if (revokedAtMs !== undefined) return `taken back ${dateTime(revokedAtMs)}`;
  return `${isEncrypted ? "encrypted" : "open"}${remove === null ? ", no command takes it back" : ""}`;
}

async function listShares(store: Store): Promise<readonly SharedPage[]> {
  const found: SharedPage[] = [];
  for await (const records of sessionPages(store, { kind: "all", archived: "all", empty: true })) {
    const ids = records.map(({ id }) => id);
    for (const [id, { value }] of await store.valuesOf(SHARES, ids)) {
      const session = await store.openSession(id);
      for (const share of sharesSchema.parse(value)) found.push({ session, share });
    }
  }
  return found.sort((a, b) => b.share.sharedAtMs - a.share.sharedAtMs);
}

async function runRevoke({ io, out, options }: Parameters<Command<ShareOptions>>[0], name: string): Promise<void> {
  await withStore(io, options.store, "change", async (store) => {
    const { session, share } = await findShare(store, name);
    const wasGone = await takeBack(io, share, (await loadConfig(io)).share?.revoke);
    const revoked: Share = { ...share, revokedAtMs: io.now() };
    await session.values.update(SHARES, (present) => sharesSchema.parse(present).map((one) => (one.link === share.link ? revoked : one)));
    if (options.json === true) out.json({ sessionId: session.id, ...revoked });
    else out.line(`${wasGone ? "was gone already" : "taken back"}: ${share.link}`);
  });
}

/** The one share that is not taken back whose link has this text. @throws {CommandError} */
async function findShare(store: Store, text: string): Promise<SharedPage> {
  const found = (await listShares(store)).filter(({ share }) => share.revokedAtMs === undefined && share.link.includes(text));
  const [first, ...others] = found;
  if (first === undefined) throw new CommandError("SHARE_NOT_FOUND", `No shared page has ${text} in its link.`);
  if (others.length > 0)
    throw new CommandError(
      "SHARE_NOT_FOUND",
      `${counted(found.length, "shared page")} have ${text} in their links. Give more of the link.`,
    );
  return first;
}
