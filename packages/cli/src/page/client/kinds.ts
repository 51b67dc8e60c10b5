import { make } from "./dom.js";

/** The kinds of entries that can be shown alone: the value is the class of the conversation. */
const KINDS = [
  ["", "All entries"],
  ["no-tools", "Without tool calls"],
  ["prompts", "Prompts only"],
  ["edits", "Changes of files"],
  ["failures", "Failures"],
  ["labels", "Labels"],
] as const;

/** Adds the choice of the kinds of entries that are shown. `onChange`: called after it was made, when other articles may be on screen. */
export function startKinds(path: HTMLElement, before: HTMLElement, onChange: () => void) {
  const select = make("select");
  const show = (kind: string) => {
    select.value = kind;
    if (kind === "") delete path.dataset["kind"];
    else path.dataset["kind"] = kind;
    onChange();
  };
  select.id = "kinds";
  select.setAttribute("aria-label", "Shown entries");
  select.append(...KINDS.map(([value, name]) => new Option(name, value)));
  select.addEventListener("change", () => show(select.value));
  before.before(select);
  return {
    choices: KINDS,
    show,
    /** Shows all entries again if an article is hidden that a person wants to see. */
    include(article: HTMLElement): void {
      if (article.isConnected && getComputedStyle(article).display === "none") show("");
    },
  };
}
