import type { EntrySeq, SessionSeq } from "../../ids/ids.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";

const seqsAfter = query<{ session: SessionSeq; after: EntrySeq | 0 }, readonly [EntrySeq]>(({ db, sql, p }) =>
  db
    .selectFrom("entry")
    .select("seq")
    .where("session_seq", "=", p.session)
    .where(sql<boolean>`seq > ${p.after}`)
    .orderBy("seq")
    .$castTo<readonly [EntrySeq]>(),
);

/** The order of arrival of the entries of one session, as places: 1, 2, 3, without gaps. Row numbers are those of the whole file. */
export class Places {
  /** Row numbers by place. */
  readonly #seqs: EntrySeq[] = [];
  readonly session: SessionSeq;

  constructor(session: SessionSeq) {
    this.session = session;
  }

  /** Reads the entries that arrived since. */
  refresh(connection: Connection): void {
    for (const [seq] of connection.allAsArrays(seqsAfter, { session: this.session, after: this.#seqs.at(-1) ?? 0 })) this.#seqs.push(seq);
  }

  get count(): number {
    return this.#seqs.length;
  }

  seqAt(place: number): EntrySeq | undefined {
    return this.#seqs[place - 1];
  }

  /** The place of a row number; null for null, and for one that is not in the session. Cost: a binary search. */
  placeOf(seq: EntrySeq | null): number | null {
    if (seq === null) return null;
    let [low, high] = [0, this.#seqs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#seqs[middle] ?? seq) < seq) low = middle + 1;
      else high = middle;
    }
    return this.#seqs[low] === seq ? low + 1 : null;
  }
}

/** Of how many sessions the places are kept. */
const MOST_KEPT = 8;

const kept = new WeakMap<Connection, Places[]>();

/** The places of a session. Entries are never removed from a session, so known ones stay. Call it inside `read`, or before the first write of a `write`. */
export function placesOf(connection: Connection, session: SessionSeq): Places {
  const all = kept.get(connection) ?? [];
  const places = all.find((one) => one.session === session) ?? new Places(session);
  kept.set(connection, [places, ...all.filter((one) => one !== places)].slice(0, MOST_KEPT));
  places.refresh(connection);
  return places;
}
