import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { foldText } from "./fold.js";

// Stems of words, for questions: "travelled" finds "travel". The index has the words as they are written; a question is compared with their stems,
// so an index needs no second copy for stems, and both engines and the scan of what is not indexed agree. All words here are folded.

/** A language whose words have stems. */
export type Language = "english" | "german" | "french" | "spanish";

const STEMMERS: Readonly<Record<Language, (word: string) => string>> = { english, german, french, spanish };
const LANGUAGES = ["english", "german", "french", "spanish"] as const satisfies readonly Language[];

/** Words of a question that say nothing about the answer, by language. */
const STOP_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  english: words(`a about above after again all also am an and any are as at be been before being below between both but by came can cannot
    could did do does doing done down during each else ever few for from further get gets getting give given go goes going gone got had has have
    having he her here hers him his how however i if in into is isn it its itself just let like made make many may me might more most much
    must my myself need no nor not now of off on once one only or other our ours out over own please put really said same say says see seen
    shall she should so some still such take tell than that the their them then there these they thing things this those through to told too
    under until up us use used uses using very want wanted was we went were what when where whether which while who whom whose why will with
    without would yes yet you your ve ll re don didn doesn wasn aren won t s d m`),
  german:
    words(`aber als am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des dessen die dies diese dieser
    dieses doch dort du durch eigentlich ein eine einem einen einer eines er es etwas euch euer für gegen gewesen hab habe haben hat hatte hatten
    hier hin ich ihm ihn ihr ihre im in ins ist ja jede jeder jetzt kann kein keine können man mein meine mich mir mit muss müssen nach nein
    nicht noch nun nur ob oder ohne passiert sehr sein seine sich sie sind so soll sollte über um und uns unser unter viele vielen vom von vor
    wann war waren warum was weil welche welcher welches wenn wer werden wie wieder wird wo wollen wurde wurden zu zum zur zwischen`),
  french: words(`a ai au aucun aussi autre aux avant avec avoir c ce cela ces cet cette ceux ci comme comment d dans de depuis des deux doit
    dont du elle elles en encore entre es est et eu eux fait faire fois il ils j je l la le les leur leurs lui m ma mais me même mes moi mon
    n ne ni nos notre nous on ont ou où par pas peu peut plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa
    sans se sera ses si son sont sous sur t ta te tes toi ton tous tout très tu un une va vos votre vous y ça été être`),
  spanish:
    words(`a al algo alguna algunas alguno algunos ante antes aquí así aún aunque bajo bien cada como con contra cual cuales cuando de
    del desde donde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta están este esto estos fue fueron ha
    había han hasta hay la las le les lo los más me mi mí mientras mis mucho muy nada ni no nos nosotros nunca o os otra otro para pero poco
    por porque puede pueden pues que quien quienes se sea según ser si sí sido sin sobre son su sus también tan te tiene tienen todo todos
    tu tus un una uno unos y ya yo`),
};

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
  const counts = LANGUAGES.map((language) => asked.filter((word) => STOP_WORDS[language].has(word)).length);
  const most = Math.max(...counts);
  return most === 0 ? ["english"] : LANGUAGES.filter((_, at) => counts[at] === most);
}

/** True for a word that says nothing about what is asked. */
export function isStopWord(word: string, languages: readonly Language[]): boolean {
  return languages.some((language) => STOP_WORDS[language].has(word));
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
  const stem = STEMMERS[language](language === "english" ? (GROUPS.get(word)?.[0] ?? word) : word);
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
