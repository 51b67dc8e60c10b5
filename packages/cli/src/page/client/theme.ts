const THEMES = ["system", "light", "dark"] as const;
const KEY = "bough-theme";

/** Starts the switch between the system's theme, light and dark. */
export function startTheme(button: HTMLElement): () => void {
  let at = Math.max(
    0,
    THEMES.findIndex((theme) => theme === readTheme()),
  );
  const apply = () => {
    const theme = THEMES[at] ?? "system";
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    const name = { system: "auto", light: "light", dark: "dark" }[theme];
    const word = document.createElement("span");
    word.textContent = "Theme: ";
    button.replaceChildren(word, name);
    button.setAttribute("aria-label", `Theme: ${name}`);
  };
  const next = () => {
    at = (at + 1) % THEMES.length;
    storeTheme(THEMES[at] ?? "system");
    apply();
  };
  button.addEventListener("click", next);
  apply();
  return next;
}

// A browser may refuse storage to a page from a file.
function readTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function storeTheme(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The theme then holds for this page only.
  }
}
