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

/** The choice of the kinds of entries that are shown. */
export class Kinds {
  readonly #path: HTMLElement;
  readonly #select = make("select");
  readonly #onChange: () => void;

  /** `onChange`: called after the choice was made, when other articles may be on screen. */
  constructor(path: HTMLElement, before: HTMLElement, onChange: () => void) {
    this.#path = path;
    this.#onChange = onChange;
    this.#select.id = "kinds";
    this.#select.setAttribute("aria-label", "Shown entries");
    this.#select.append(...KINDS.map(([value, name]) => new Option(name, value)));
    this.#select.addEventListener("change", () => this.show(this.#select.value));
    before.before(this.#select);
  }

  /** The choices by name. */
  get choices(): readonly (readonly [value: string, name: string])[] {
    return KINDS;
  }

  show(kind: string): void {
    this.#select.value = kind;
    if (kind === "") delete this.#path.dataset["kind"];
    else this.#path.dataset["kind"] = kind;
    this.#onChange();
  }

  /** Shows all entries again if an article is hidden that a person wants to see. */
  include(article: HTMLElement): void {
    if (article.isConnected && getComputedStyle(article).display === "none") this.show("");
  }
}
