import { openStore, type SessionRecord, type Store } from "@bough/session-core";
import { type CopyPlace, judgedCopies, placeOf } from "@bough/session-core/copies";
import { NoStoreError, UsageError } from "../errors.js";
import type { FarStore } from "../remote/far-store.js";
import { connect, isSshAddress, parseSshAddress, type SshAddress } from "../remote/ssh.js";
import { withStore } from "../session/open-store.js";
import { locateStore, type StoreLocation } from "../session/store-location.js";
import type { CommonOptions, Invocation } from "./command.js";

/** Options of `bough copy`. */
export interface CopyCommandOptions extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly update?: boolean;
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
  readonly watch?: boolean;
  readonly remoteCommand?: string;
  readonly serve?: boolean;
}

/** An open place of a copy. */
export interface OpenPlace {
  readonly place: CopyPlace;
  /** For people. */
  readonly name: string;
  /** One of both is there: the store of this process, or that of another machine. */
  readonly store: Store | undefined;
  readonly far: FarStore | undefined;
}

/** Both places of a copy, open. */
export interface CopyPair {
  readonly from: OpenPlace;
  readonly to: OpenPlace;
}

/** One call of `bough copy`. */
export type CopyRun = Invocation<CopyCommandOptions>;

/** Checks the stores and options of a copy before anything is opened. @throws {UsageError} */
export async function requireTwoStores(invocation: CopyRun): Promise<void> {
  const { io, options } = invocation;
  const { from, to } = options;
  if (from === undefined && to === undefined) throw new UsageError("Name a second store: --to STORE, or --from STORE.");
  const far = [farAddress(from, "--from"), farAddress(to, "--to")].filter((address) => address !== undefined);
  if (far.length > 1) throw new UsageError("--from and --to are both on other machines. Run the copy on one of them.");
  requireFittingOptions(invocation, far.length === 1);
  if (far.length === 1) return;
  const [source, target] = [await locateStore(io, from ?? options.store), await locateStore(io, to ?? options.store)];
  if (source.address === target.address) throw new UsageError(`--from and --to are both ${source.name}. Name two stores.`);
}

function requireFittingOptions({ args, options: { watch, dryRun, remoteCommand } }: CopyRun, isFar: boolean): void {
  if (!isFar && watch === true) throw new UsageError("--watch needs a store on another machine: ssh://HOST.");
  if (!isFar && remoteCommand !== undefined) throw new UsageError("--remote-command needs a store on another machine: ssh://HOST.");
  if (watch === true && dryRun === true) throw new UsageError("--watch copies, and --dry-run writes nothing. Choose one.");
  if (watch === true && args.length > 0) throw new UsageError("--watch copies all sessions. Leave out their names.");
}

function farAddress(given: string | undefined, option: string): SshAddress | undefined {
  return given !== undefined && isSshAddress(given) ? parseSshAddress(given, option) : undefined;
}

/** Opens both places, and closes them after `work`. */
export async function withPlaces(invocation: CopyRun, signal: AbortSignal, work: (pair: CopyPair) => Promise<void>): Promise<void> {
  const { options } = invocation;
  // The usual store is the one that is not named. The other machine comes first: whether it can be reached is not known.
  const isFromFar = options.from !== undefined && isSshAddress(options.from);
  if (isFromFar) return withSource(invocation, signal, (from) => withTarget(invocation, signal, (to) => work({ from, to: withJudge(to) })));
  return withTarget(invocation, signal, (to) => withSource(invocation, signal, (from) => work({ from, to })));
}

/** Data from another machine is judged before it is written. */
function withJudge({ place, ...others }: OpenPlace): OpenPlace {
  return { ...others, place: { ...place, copies: judgedCopies(place.copies) } };
}

async function withSource(invocation: CopyRun, signal: AbortSignal, work: (from: OpenPlace) => Promise<void>): Promise<void> {
  const { io, options } = invocation;
  const given = options.from ?? options.store;
  const address = farAddress(options.from, "--from");
  if (address !== undefined) return withFar(invocation, address, "read", signal, work);
  await withStore(io, given, "read", (store, { name }) => work(near(store, name)));
}

/** Opens the target, and creates it if it does not exist; a dry run creates nothing, so it then compares with an empty store. */
async function withTarget(invocation: CopyRun, signal: AbortSignal, work: (to: OpenPlace) => Promise<void>): Promise<void> {
  const { io, options } = invocation;
  const target = options.to ?? options.store;
  const isDry = options.dryRun === true;
  const address = farAddress(options.to, "--to");
  if (address !== undefined) return withFar(invocation, address, isDry ? "compare" : "write", signal, work);
  if (!isDry) return withStore(io, target, "create", (store, { name }) => work(near(store, name)), "BOUGH_TO_KEY");
  const opened = { isThere: false };
  try {
    const compare = (store: Store, { name }: StoreLocation) => {
      opened.isThere = true;
      return work(near(store, name));
    };
    await withStore(io, target, "read", compare, "BOUGH_TO_KEY");
  } catch (error) {
    if (opened.isThere || !(error instanceof NoStoreError)) throw error;
    const [empty, { name }] = [await openStore({ path: ":memory:" }), await locateStore(io, target)];
    await work(near(empty, name)).finally(() => empty.close());
  }
}

function near(store: Store, name: string): OpenPlace {
  return { place: placeOf(store), name, store, far: undefined };
}

async function withFar(
  { io, options }: CopyRun,
  address: SshAddress,
  access: "read" | "write" | "compare",
  signal: AbortSignal,
  work: (place: OpenPlace) => Promise<void>,
): Promise<void> {
  const { store, protocol, close } = await connect(io, address, options.remoteCommand ?? "bough", signal);
  try {
    await store.open(address.path, access, protocol);
    await work({ place: store, name: address.name, store: undefined, far: store });
  } finally {
    await close();
  }
}

/** The known facts of a session: by the store of this machine if it is there, which also a copy from another one has filled. */
export async function recordIn({ from, to }: CopyPair, id: string): Promise<Pick<SessionRecord, "title" | "firstText"> | undefined> {
  const own = from.store ?? to.store;
  const known = await own?.findSession(id);
  return known ?? (await (from.far ?? to.far)?.copies.state(id).catch(() => undefined))?.session;
}
