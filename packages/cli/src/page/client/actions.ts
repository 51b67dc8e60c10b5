import { make } from "./dom.js";

/** Something that a person can do in a page: by a key, and by its name in the list of all of them. */
export interface Action {
  readonly name: string;
  /** The keys as `KeyboardEvent.key` names them; none: only the list has it. */
  readonly keys: readonly string[];
  readonly run: () => void;
}

/** The dialog with all actions of a page and their keys: typing narrows it, Enter does the marked one. */
export class Actions {
  readonly #actions: readonly Action[];
  readonly #dialog = make("dialog");
  readonly #field = make("input");
  readonly #list = make("ul");
  /** Off, so that single keys do not meet those of a screen reader or of speech input. */
  readonly #letters = make("input");
  #marked = 0;

  constructor(actions: readonly Action[]) {
    this.#actions = [...actions, { name: "All actions and keys", keys: ["?", ":", "Ctrl+K"], run: () => this.open() }];
    this.#build();
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  open(): void {
    this.#field.value = "";
    this.#draw();
    this.#dialog.showModal();
    this.#field.focus();
  }

  #build(): void {
    this.#dialog.id = "actions";
    this.#dialog.setAttribute("aria-labelledby", "actions-title");
    const title = make("h2", "Actions and keys");
    title.id = "actions-title";
    this.#field.type = "search";
    this.#field.placeholder = "Type what you want to do";
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "action-list",
      "aria-label": "Action",
      autocomplete: "off",
    }))
      this.#field.setAttribute(name, value);
    this.#list.id = "action-list";
    this.#list.setAttribute("role", "listbox");
    this.#list.setAttribute("aria-label", "Actions");
    this.#letters.type = "checkbox";
    this.#letters.checked = true;
    const label = make("label");
    label.append(this.#letters, " Keys without Ctrl or Alt");
    const close = make("button", "Close");
    close.type = "button";
    close.addEventListener("click", () => this.#dialog.close());
    const foot = make("p", "", "foot");
    foot.append(label, close);
    this.#dialog.append(title, this.#field, this.#list, foot);
    document.body.append(this.#dialog);
    this.#field.addEventListener("input", () => {
      this.#marked = 0;
      this.#draw();
    });
    this.#field.addEventListener("keydown", (event) => this.#onFieldKey(event));
  }

  get #found(): readonly Action[] {
    const words = this.#field.value.toLowerCase().split(/\s+/);
    return this.#actions.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  }

  #draw(): void {
    const found = this.#found;
    this.#marked = Math.max(0, Math.min(this.#marked, found.length - 1));
    const items = found.map((action, at) => {
      const item = make("li");
      item.id = `action-${at}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(at === this.#marked));
      item.append(make("span", action.name), ...action.keys.map((key) => make("kbd", key)));
      item.addEventListener("click", () => this.#run(action));
      return item;
    });
    this.#list.replaceChildren(...items);
    this.#field.setAttribute("aria-activedescendant", found.length === 0 ? "" : `action-${this.#marked}`);
    items[this.#marked]?.scrollIntoView({ block: "nearest" });
  }

  #onFieldKey(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const action = this.#found[this.#marked];
    if (by === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (by !== undefined) {
      this.#marked += by;
      this.#draw();
    } else if (action !== undefined) this.#run(action);
  }

  #run(action: Action): void {
    this.#dialog.close();
    action.run();
  }

  #onKey(event: KeyboardEvent): void {
    if (this.#dialog.open) return;
    const isListKey = (event.ctrlKey || event.metaKey) && !event.altKey && event.key === "k";
    if (isListKey) {
      event.preventDefault();
      this.open();
    } else if (event.key === "Escape" || this.#takesKey(event)) this.#runKey(event);
  }

  /** True for a key that a person does not type, and that no modifier makes another one. */
  #takesKey({ ctrlKey, altKey, metaKey, target }: KeyboardEvent): boolean {
    return !(ctrlKey || altKey || metaKey) && this.#letters.checked && !isTyping(target);
  }

  #runKey(event: KeyboardEvent): void {
    const action = this.#actions.find(({ keys }) => keys.includes(event.key));
    if (action === undefined) return;
    // Escape also leaves a field or a menu.
    if (event.key !== "Escape") event.preventDefault();
    action.run();
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}
