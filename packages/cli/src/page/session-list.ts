import type { SessionRecord, Store } from "@bough/session-core";
import { count, counted } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { bareDocument } from "./document.js";
import { type Html, html, joinHtml } from "./html.js";

/** A page with links to the sessions of a store, newest activity first. `mask` replaces secrets in their titles. */
export async function* sessionListPage(store: Store, mask: (text: string) => string): AsyncGenerator<string, void, void> {
  const records: SessionRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listSessions(cursor === undefined ? {} : { cursor });
    records.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  const items = joinHtml(records.map((record) => sessionItem(record, mask)));
  yield bareDocument("Sessions", html`<h1>Sessions</h1><p>${counted(records.length, "session")}</p><ul class="sessions">${items}</ul>`)
    .text;
}

function sessionItem(record: SessionRecord, mask: (text: string) => string): Html {
  const title = record.title ?? record.firstText ?? "(untitled)";
  const facts = [dateTime(record.activeAtMs), `${count(record.messageCount)} messages`, record.cwd ?? ""].filter((fact) => fact !== "");
  return html`<li><a href="${encodeURIComponent(record.id)}">${mask(title)}</a><span>${mask(facts.join(" · "))}</span></li>\n`;
}
