// The script of the page of a session that a server shows.
import { App } from "./app.js";
import { element, idOf, make } from "./dom.js";
import { copy, type MenuItem, say } from "./entry-menu.js";
import { Follower } from "./follow.js";
import { ServedFinder } from "./found.js";
import { ServedRows } from "./served-rows.js";
import { SessionServer } from "./server.js";
import { Windows } from "./windows.js";

const { base = "", session = "", store } = document.body.dataset;
const server = new SessionServer(base);
const book = new Windows(element("path"), server);
const rows = new ServedRows(element("rows"), server, book);

const hits = make("details", "", "hits");
hits.append(make("summary", "Best matches"), make("ol"));
hits.hidden = true;
element("intro").after(hits);

const finder = new ServedFinder(server, book, hits, () => app.drawSoon());
const app: App = new App({
  book,
  finder,
  rows,
  items: commandsOf,
  onRead: (step) => follower.read(step),
});
rows.onLoaded(() => app.tree.markShown());
const follower: Follower = new Follower(server, book, session, {
  goToEnd: () => app.goToEnd(),
  scrollToEnd: () => app.scrollToEnd(),
  onChange: () => rows.update(),
});

// The list of sessions hands over the words that it was searched for.
const words = new URLSearchParams(location.search).get("q");
if (words !== null && words !== "") void app.find(words);

/** The entry that a comparison starts with. */
let marked: string | undefined;

/** The commands that go on from an entry. Ids that a shell would not take as they are come only from other programs. */
function commandsOf(article: HTMLElement): readonly MenuItem[] {
  const id = idOf(article);
  const at = store === undefined ? "" : ` --store ${store}`;
  const isPlain = [session, id].every((name) => /^\w[\w.:@-]*$/.test(name));
  const command = (text: string) => (isPlain ? () => void copy(text) : undefined);
  return [
    { name: "Copy the command: go on from here", does: command(`bough go ${session} ${id}${at} && bough --session ${session}${at}`) },
    { name: "Copy the command: resume in its agent", does: command(`bough resume ${session} ${id}${at}`) },
    { name: "Copy the command: open in the tree", does: command(`bough tree ${session} ${id} -i${at}`) },
    marked === undefined || marked === id
      ? { name: "Compare this branch with …", does: () => mark(id) }
      : { name: "Compare with the branch of the marked entry", does: () => compare(marked ?? id, id) },
  ];
}

function mark(id: string): void {
  marked = id;
  say("Now choose Compare at an entry of another branch.");
}

function compare(a: string, b: string): void {
  marked = undefined;
  location.assign(server.address("compare", { a, b }));
}
