import { keep, make, readKept } from "./dom.js";

const THEMES: readonly (string | null)[] = ["system", "light", "dark"];
const KEY = "bough-theme";

/** Starts the switch between the system's theme, light and dark. */
export function startTheme(button: HTMLElement): () => void {
  let at = Math.max(0, THEMES.indexOf(readKept(KEY)));
  const apply = () => {
    const theme = THEMES[at] ?? "system";
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    const name = theme === "system" ? "auto" : theme;
    button.replaceChildren(make("span", "Theme: "), name);
    button.setAttribute("aria-label", `Theme: ${name}`);
  };
  const next = () => {
    at = (at + 1) % THEMES.length;
    keep(KEY, THEMES[at] ?? "system");
    apply();
  };
  button.addEventListener("click", next);
  apply();
  return next;
}
