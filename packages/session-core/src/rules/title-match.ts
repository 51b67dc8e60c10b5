// Matches titles with a name. Compares them in JavaScript, because databases convert only ASCII letters to lower case without a locale.

/** The tests of a title against a name, both in lower case, from exact to vague. */
const TITLE_MATCHERS: readonly ((title: string, name: string) => boolean)[] = [
  (title, name) => title === name,
  (title, name) => title.startsWith(name),
  (title, name) => title.includes(name),
  // Words of a title in their order, each by its beginning: `tab lex` for "Tabs in the lexer".
  (title, name) => startsWords(title, name),
];

function startsWords(title: string, name: string): boolean {
  const words = title.match(WORD) ?? [];
  let at = 0;
  for (const start of name.match(WORD) ?? []) {
    while (at < words.length && words[at]?.startsWith(start) !== true) at += 1;
    if (at === words.length) return false;
    at += 1;
  }
  return at > 0;
}

/** A word of a title. */
export const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** A session and its title. */
export interface Titled {
  readonly title: string | null;
}

/** Returns those that match a name in the most exact way that any of them does, at most `limit`, in their order. */
export function bestTitles<T extends Titled>(titled: readonly T[], name: string, limit: number): readonly T[] {
  const foldedName = foldCase(name);
  const folded = titled.map((one) => ({ one, title: one.title === null ? null : foldCase(one.title) }));
  for (const matches of TITLE_MATCHERS) {
    const found = folded.filter(({ title }) => title !== null && matches(title, foldedName)).slice(0, limit);
    if (found.length > 0) return found.map(({ one }) => one);
  }
  return [];
}

/** Normalizes case and composed characters, so that both forms of an accented letter are equal. */
function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
