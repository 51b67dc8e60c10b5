// The script of a server's list of sessions: it searches while a person types, shows what arrives, and marks what was not read.
import { element, keep, readKept } from "./dom.js";
import { readDocument } from "./server.js";

const form = element("filter");
const words = element("words");
const FIRST_VISIT = "bough-first-visit";

/** Sessions that were active before the first visit and never opened are not new. */
const since = Number(readKept(FIRST_VISIT) ?? Date.now());
keep(FIRST_VISIT, String(since));

/** Marks the sessions that have entries that were not seen. */
function markUnread(): void {
  for (const item of document.querySelectorAll<HTMLElement>("#sessions li[data-session]")) {
    const { session = "", entries = "0", active = "0" } = item.dataset;
    const seen = readKept(`bough-seen:${session}`);
    const unread = seen === null ? (Number(active) > since ? Number(entries) : 0) : Math.max(0, Number(entries) - Number(seen));
    item.querySelector(":scope > .unread")?.remove();
    if (unread === 0) continue;
    const mark = document.createElement("span");
    mark.className = "unread";
    mark.textContent = seen === null ? "new" : `${unread} new`;
    item.querySelector(".title")?.after(mark);
  }
}

let isLoading = false;
let isBehind = false;

/** Loads the list that the form chooses. While one loads, only the newest choice waits. */
async function load(): Promise<void> {
  isBehind = true;
  if (isLoading) return;
  isLoading = true;
  try {
    while (isBehind) {
      isBehind = false;
      const address = addressOfForm();
      const next = await readDocument(address);
      history.replaceState(null, "", address);
      for (const id of ["said", "sessions"]) {
        const fresh = next.getElementById(id);
        if (fresh !== null) element(id).replaceWith(document.importNode(fresh, true));
      }
      document.getElementById("all")?.parentElement?.remove();
      const all = next.getElementById("all")?.parentElement;
      if (all !== null && all !== undefined) element("sessions").after(document.importNode(all, true));
      markUnread();
    }
  } catch {
    element("said").textContent = "The server has ended. Start bough view again.";
  } finally {
    isLoading = false;
  }
}

function addressOfForm(): string {
  const chosen = new URLSearchParams();
  if (form instanceof HTMLFormElement)
    for (const [name, value] of new FormData(form)) if (typeof value === "string" && value !== "") chosen.set(name, value);
  if (new URLSearchParams(location.search).has("all")) chosen.set("all", "1");
  const query = chosen.toString();
  return query === "" ? location.pathname : `${location.pathname}?${query}`;
}

form.addEventListener("input", () => void load());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void load();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    words.focus();
  }
  if (event.key === "Escape") words.blur();
});

let events: EventSource | undefined;

/** Browsers allow six connections to a server: only a page that is seen has one. */
function watch(): void {
  if (document.hidden) {
    events?.close();
    events = undefined;
  } else if (events === undefined) {
    events = new EventSource(`${location.pathname}/events`);
    events.addEventListener("message", () => void load());
    markUnread();
  }
}

document.documentElement.classList.add("script");
element("go").hidden = true;
document.addEventListener("visibilitychange", watch);
// The browser may bring the list back as it was left.
addEventListener("pageshow", markUnread);
watch();
