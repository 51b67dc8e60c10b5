import { Conversation } from "./conversation.js";
import { highlightCode } from "./highlight.js";
import { startKeys } from "./keys.js";
import { Marks } from "./marks.js";
import { Search } from "./search.js";
import { startTheme } from "./theme.js";
import { Tree } from "./tree.js";

/** An element of the document, which always has it. */
function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

const elsewhere = document.getElementById("elsewhere");
const conversation = new Conversation(element("path"), elsewhere instanceof HTMLTemplateElement ? elsewhere : null);
const tree = new Tree(element("tree"), conversation);
const search = new Search(conversation);
const marks = new Marks(conversation, search);
const words = element("words");
const found = element("found");

/** The steps on screen. */
const onScreen = new Set<number>();
const articles = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    if (!(target instanceof HTMLElement)) continue;
    if (isIntersecting) {
      onScreen.add(stepOfArticle(target));
      highlightCode(target);
    } else onScreen.delete(stepOfArticle(target));
  }
  drawSoon();
});

// Only the articles of chunks on screen are observed one by one.
const chunks = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    for (const article of target.querySelectorAll("article")) {
      if (isIntersecting) articles.observe(article);
      else {
        articles.unobserve(article);
        onScreen.delete(stepOfArticle(article));
      }
    }
  }
});
conversation.onShown(() => {
  chunks.disconnect();
  articles.disconnect();
  onScreen.clear();
  for (const chunk of element("path").children) chunks.observe(chunk);
  markForks();
});

function stepOfArticle(article: HTMLElement): number {
  return Number(article.dataset["step"]);
}

let drawing = false;
function drawSoon(): void {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    marks.draw(onScreen);
    const top = topStep();
    if (top !== undefined) tree.markReading(top);
  });
}

/** Returns the first step below the bar. */
function topStep(): number | undefined {
  for (const step of [...onScreen].sort((a, b) => a - b)) {
    const box = conversation.article(step)?.getBoundingClientRect();
    if (box !== undefined && box.bottom > 80) return step;
  }
  return undefined;
}

/** Says in each choice of branches which one is shown. */
function markForks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("#path .fork a")) {
    const step = stepOfLink(link);
    if (step !== undefined && conversation.isShown(step)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function stepOfLink(link: HTMLAnchorElement): number | undefined {
  return stepOfHash(link.hash);
}

function stepOfHash(hash: string): number | undefined {
  if (!hash.startsWith("#e=")) return undefined;
  try {
    return conversation.stepOf(decodeURIComponent(hash.slice(3)));
  } catch {
    return undefined; // not an address of this page
  }
}

/** Shows the branch of a step and goes there. */
function goTo(step: number, focus: boolean): void {
  conversation.show(step);
  const article = conversation.article(step);
  article?.scrollIntoView({ block: "start" });
  if (focus) article?.focus({ preventScroll: true });
  tree.select(step);
}

function goToHash(): void {
  const step = stepOfHash(location.hash);
  if (step !== undefined) goTo(step, true);
}

addEventListener("hashchange", goToHash);
// When the document is complete, the browser goes to the address by itself and takes the focus away.
addEventListener("load", () => setTimeout(goToHash));
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href^="#e="]') : null;
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  setTree(false);
  // The address does not change, so the browser fires no `hashchange`.
  if (link.hash === location.hash) goToHash();
});
document.addEventListener("toggle", (event) => event.target instanceof Element && highlightCode(event.target), true);

function setTree(open: boolean): void {
  document.body.classList.toggle("tree-open", open);
  element("tree-button").ariaExpanded = String(open || isWide());
}

function isWide(): boolean {
  return matchMedia("(min-width: 60rem)").matches && !document.body.classList.contains("tree-closed");
}

function toggleTree(): void {
  if (matchMedia("(min-width: 60rem)").matches) {
    document.body.classList.toggle("tree-closed");
    setTree(false);
  } else setTree(!document.body.classList.contains("tree-open"));
}

function moveMatch(by: 1 | -1): void {
  const match = search.move(by, topStep());
  if (match !== undefined) {
    conversation.show(match.step);
    tree.select(match.step);
    showRange(marks.currentRange());
  }
  found.textContent = search.describe();
  drawSoon();
}

/** Opens the folds around a range and scrolls to it. */
function showRange(range: Range | undefined): void {
  if (range === undefined) return;
  for (let at = range.startContainer.parentElement; at !== null; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  range.startContainer.parentElement?.scrollIntoView({ block: "center" });
  const { top } = range.getBoundingClientRect();
  scrollBy(0, top - innerHeight / 2);
}

words.addEventListener("input", () => {
  search.find(words instanceof HTMLInputElement ? words.value : "");
  found.textContent = search.describe();
  drawSoon();
});
words.addEventListener("keydown", (event) => {
  if (event.key === "Enter") moveMatch(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") words.blur();
});
element("next").addEventListener("click", () => moveMatch(1));
element("previous").addEventListener("click", () => moveMatch(-1));
element("tree-button").addEventListener("click", toggleTree);

startKeys({
  moveStep: (by) => {
    const { shown } = conversation;
    const focused = document.activeElement?.closest<HTMLElement>("article")?.dataset["step"];
    const at = shown.indexOf(focused === undefined ? (topStep() ?? -1) : Number(focused));
    const step = shown[focused === undefined ? Math.max(0, at) : Math.min(Math.max(0, at + by), shown.length - 1)];
    if (step !== undefined) goTo(step, true);
  },
  moveMatch,
  search: () => words.focus(),
  tree: () => {
    if (!matchMedia("(min-width: 60rem)").matches) setTree(true);
    tree.focus();
  },
  closeTree: () => setTree(false),
  theme: startTheme(element("theme")),
  toggleFolds: () => {
    const article = document.activeElement?.closest("article");
    const folds = [...(article?.querySelectorAll("details") ?? [])];
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  },
  toggleAllFolds: () => {
    const folds = [...element("path").querySelectorAll("details")];
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  },
});

document.documentElement.classList.add("script");
for (const id of ["tree-button", "search", "theme", "help-button"]) element(id).hidden = false;
setTree(false);
goToHash();
