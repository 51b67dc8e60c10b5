// The keys under which the values and lists of pi are stored as values of a Bough session.

const PREFIX = "pi";

/** The totals of the session. */
export const STATE_KEY = `${PREFIX}:state`;

/** The namespaces of pi for which Bough has a place of its own: leaves, labels, the title. */
export const TIPS = "pi.branch.tip";
export const LABELS = "pi.entry.label";
export const NAME = "pi.session.name";
/** The model of a branch, and what runs on it. */
export const LANE_CONFIG = "pi.lane.config";
export const LANE_STATE = "pi.lane.state";

/** pi's address of a value or list. */
interface Address {
  readonly namespace: string;
  readonly key: string;
}

const VALUES = `${PREFIX}:value/`;
const LISTS = `${PREFIX}:list/`;
const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** The key of a value. With a part of a key it is the prefix of all values whose key starts so. */
export function valueKey({ namespace, key }: Address): string {
  return `${VALUES}${encode(namespace)}/${key}`;
}

/** The address in the key of a value or of an element; undefined for other keys. */
export function addressIn(stored: string): (Address & { readonly kind: "value" | "list" }) | undefined {
  if (stored.startsWith(VALUES)) {
    const [namespace = "", ...key] = stored.slice(VALUES.length).split("/");
    return { kind: "value", namespace: decodeURIComponent(namespace), key: key.join("/") };
  }
  if (!stored.startsWith(LISTS)) return undefined;
  const [namespace = "", key = ""] = stored.slice(LISTS.length).split("/");
  return { kind: "list", namespace: decodeURIComponent(namespace), key: decodeURIComponent(key) };
}

/** The prefix of the elements of a list. */
export function listPrefix({ namespace, key }: Address): string {
  return `${LISTS}${encode(namespace)}/${encode(key)}/`;
}

const pad = (number: number) => String(number).padStart(16, "0");

/**
 * The part of an element's key after the prefix of its list, in the order of the elements: the last number before the
 * transaction that appended it, and the place in that transaction.
 */
export function elementKey(before: number, at: number): string {
  return `${pad(before)}.${pad(at)}`;
}

/** The last number before the transaction that appended an element. */
export function numberBefore(stored: string): number {
  return Number(stored.slice(stored.lastIndexOf("/") + 1).split(".")[0]);
}

/** The key of a row of usage. */
export function usageKey(id: string): string {
  return `${PREFIX}:usage/${id}`;
}

/** The prefix of all rows of usage. */
export const USAGES = usageKey("");

/** The id in the key of a row of usage; undefined for other keys. */
export function usageIdIn(stored: string): string | undefined {
  return stored.startsWith(USAGES) ? stored.slice(USAGES.length) : undefined;
}
