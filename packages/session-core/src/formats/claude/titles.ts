import { type JsonObject, stringAt } from "../../source/narrow.js";

/** A title that a record gives to the session. */
export type TitleClaim =
  | { readonly kind: "user" | "ai"; readonly title: string }
  /** Of the session that has the record `leafUuid`, which is often not the session of this file. */
  | { readonly kind: "summary"; readonly title: string; readonly leafUuid: string };

/** The title that a side record gives; undefined for every other record. */
export function titleClaim(record: JsonObject): TitleClaim | undefined {
  switch (record.type) {
    case "custom-title":
      return claim("user", stringAt(record, "customTitle"));
    case "ai-title":
      return claim("ai", stringAt(record, "aiTitle"));
    case "summary":
      return summaryClaim(stringAt(record, "summary"), stringAt(record, "leafUuid"));
  }
  return undefined;
}

function claim(kind: "user" | "ai", title: string | undefined): TitleClaim | undefined {
  return title === undefined || title.trim() === "" ? undefined : { kind, title };
}

function summaryClaim(title: string | undefined, leafUuid: string | undefined): TitleClaim | undefined {
  return title === undefined || title.trim() === "" || leafUuid === undefined ? undefined : { kind: "summary", title, leafUuid };
}

/** The titles of a file while it is read: what a person chose, what a model proposed, summaries by their leaf. */
export class Titles {
  #user: string | undefined;
  #ai: string | undefined;
  #summaries: { readonly title: string; readonly leafUuid: string }[] = [];

  /** Notes a record if it gives a title; the last of a kind wins. */
  learn(record: JsonObject): void {
    const given = titleClaim(record);
    if (given?.kind === "user") this.#user = given.title;
    if (given?.kind === "ai") this.#ai = given.title;
    if (given?.kind === "summary") this.#summaries.push(given);
  }

  /** What the file says of itself: a summary counts if its leaf is in the file. */
  judged(isHere: (uuid: string) => boolean): { readonly user?: string | undefined; readonly auto?: string | undefined } {
    const summary = this.#summaries.findLast(({ leafUuid }) => isHere(leafUuid))?.title;
    return { user: this.#user, auto: this.#ai ?? summary };
  }
}
