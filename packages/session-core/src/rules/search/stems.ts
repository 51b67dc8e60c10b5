import { stemmer } from "@orama/stemmers/english";
import { foldText } from "./fold.js";
import { type Language, type LanguageRules, OTHER_LANGUAGES } from "./other-languages.js";

// Stems of words, for questions: "travelled" finds "travel". The index has the words as they are written; a question is compared with their stems,
// so an index needs no second copy for stems, and both engines and the scan of what is not indexed agree. All words here are folded.

export type { Language };

const ENGLISH: LanguageRules = {
  name: "english",
  stemmer,
  stopWords: `a about above after again all also am an and any are as at be been before being below between both but by came can cannot
    could did do does doing done down during each else ever few for from further get gets getting give given go goes going gone got had has have
    having he her here hers him his how however i if in into is isn it its itself just let like made make many may me might more most much
    must my myself need no nor not now of off on once one only or other our ours out over own please put really said same say says see seen
    shall she should so some still such take tell than that the their them then there these they thing things this those through to told too
    under until up us use used uses using very want wanted was we went were what when where whether which while who whom whose why will with
    without would yes yet you your ve ll re don didn doesn wasn aren won t s d m`,
};

/** Of each language the words of a question that say nothing about the answer, in the order in which stems are listed. */
const STOP_WORDS: ReadonlyMap<Language, ReadonlySet<string>> = new Map(
  [ENGLISH, ...OTHER_LANGUAGES].map(({ name, stopWords }) => [name, words(stopWords)]),
);

const STEMMERS: ReadonlyMap<Language, (word: string) => string> = new Map(
  [ENGLISH, ...OTHER_LANGUAGES].map(({ name, stemmer }) => [name, stemmer]),
);

/** English words that have other forms than endings: each group has one stem. */
const IRREGULAR = `begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|choose chose chosen|deal dealt|
  draw drew drawn|drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|
  grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led|learn learnt|leave left|lend lent|
  lose lost|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|sell sold|seek sought|send sent|
  shake shook shaken|shine shone|shoot shot|show shown|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|
  stand stood|steal stole stolen|stick stuck|swim swam swum|teach taught|think thought|throw threw thrown|understand understood|
  wake woke woken|wear wore worn|win won|write wrote written|child children|man men|woman women|person people|mouse mice|foot feet|
  tooth teeth|index indices`;

/** Of each word of such a group all of them; the first stands for the others. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map(
  IRREGULAR.split("|").flatMap((list) => {
    const group = [...words(list)];
    return group.map((word) => [word, group] as const);
  }),
);

function words(list: string): ReadonlySet<string> {
  return new Set(foldText(list).trim().split(/\s+/));
}

/** The languages with the most stop words among some words; English if none has any. */
export function languagesOf(asked: readonly string[]): readonly Language[] {
  const counts = new Map([...STOP_WORDS].map(([language, known]) => [language, asked.filter((word) => known.has(word)).length]));
  const most = Math.max(...counts.values());
  return most === 0 ? ["english"] : [...counts].flatMap(([language, count]) => (count === most ? [language] : []));
}

/** True for a word that says nothing about what is asked. */
export function isStopWord(word: string, languages: readonly Language[]): boolean {
  return languages.some((language) => STOP_WORDS.get(language)?.has(word) === true);
}

const HAS_STEM = /^\p{L}{3,40}$/u;

/** The stem of a word in each of the languages; the word itself if it is no word of letters. */
export function stemsOf(word: string, languages: readonly Language[]): readonly string[] {
  return HAS_STEM.test(word) ? languages.map((language) => stemOf(word, language)) : [word];
}

const stems = new Map<string, string>();
const MOST_STEMS = 50_000;

function stemOf(word: string, language: Language): string {
  const key = `${language} ${word}`;
  const known = stems.get(key);
  if (known !== undefined) return known;
  const regular = language === "english" ? (GROUPS.get(word)?.[0] ?? word) : word;
  const stem = STEMMERS.get(language)?.(regular) ?? regular;
  if (stems.size >= MOST_STEMS) stems.clear();
  stems.set(key, stem);
  return stem;
}

/** A stem is not always the start of its word: "hoping" has the stem "hope", "happy" has "happi". */
const SHORTEST_START = 3;
const CHANGED_END = 2;

let groupsByStem: ReadonlyMap<string, readonly string[]> | undefined;

/** The other forms of an English word that have other stems by its endings: of "writes" also "wrote". */
function irregularForms(word: string): readonly string[] {
  groupsByStem ??= new Map([...GROUPS.values()].map((group) => [stemOf(group[0] ?? "", "english"), group]));
  return groupsByStem.get(stemOf(word, "english")) ?? [];
}

/** The starts of all words that have the stem of a word in one of the languages. */
export function startsOf(word: string, languages: readonly Language[]): readonly string[] {
  const others = languages.includes("english") ? irregularForms(word) : [];
  const all = [...stemsOf(word, languages), ...others].map((stem) => stem.slice(0, Math.max(SHORTEST_START, stem.length - CHANGED_END)));
  return shortestStarts(all);
}

/** Those of some starts of words that begin with no other one. */
export function shortestStarts(starts: readonly string[]): readonly string[] {
  const shortest = [...new Set(starts)].toSorted((a, b) => a.length - b.length);
  return shortest.filter((start, at) => !shortest.slice(0, at).some((other) => start.startsWith(other)));
}
