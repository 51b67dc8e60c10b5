/** Words that say nothing about what a sentence is about; what commands and forbids is among them, as others say it with other words. */
const STOP = new Set(
  `a about after again all also always am an and any are as at be because been before being but by can could did do does doing don done dont for
  from had has have having he her here his how i if in into is isn it its just let like make me more most must my need needs never no nor not now
  of off ok okay on once one only or other our out please prefer put really same shall she should so some such sure than that the their them then
  there these they this those to too up us use used using very want was way we were what when where which while who why will with would you your
  use ensure instead always without avoid`.split(/\s+/),
);

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * The words that say what a text is about: in lower case, without common words and without English endings, so that
 * "updating the tests" and "update test" are one. Where a script has no spaces, each pair of characters is a word. Linear.
 */
export function keyWords(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const pair of pairs(word)) found.add(pair);
    else if (!STOP.has(word) && (word.length > 2 || /\p{N}/u.test(word))) found.add(stem(word));
  }
  return found;
}

/** Share of `wanted` that is in `given`; 1 where nothing is wanted. */
export function shareOf(wanted: ReadonlySet<string>, given: ReadonlySet<string>): number {
  if (wanted.size === 0) return 1;
  let both = 0;
  for (const word of wanted) if (given.has(word)) both += 1;
  return both / wanted.size;
}

// Crude on purpose: both sides go through it, and a wrong stem is wrong on both.
function stem(word: string): string {
  const short = word.replace(/(?:ing|ed|es|s|e)$/, "");
  return short.length > 2 ? short : word;
}

function pairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
