import { proseOf } from "../../facts/text/prose.js";
import { type Sentence, sentencesOf } from "../../facts/text/sentences.js";

/** Says that something is good, and not what. */
const INTERJECTION =
  /^(?:(?:oh|ah|hm+|wait|now|ok(?:ay)?|yes|yep|no|sure|of course|absolutely|exactly|right|true|indeed|alright|perfect|done|great|good|nice|excellent|wonderful|fixed|success|got it|my bad|sorry|i see|you(?:['’]re| are)(?: absolutely)? right|good (?:question|point|idea|catch)|great (?:question|point|idea|catch|news)|as (?:requested|you asked)|thank you|thanks|you(?:['’]re| are) welcome|no response requested)[\s,!.:;…✅🎉-]*)+$/iu;
const INTERJECTION_BEFORE =
  /^(?:(?:perfect|done|great|excellent|good|nice|success|ok(?:ay)?|yes|ah|oh|got it|you(?:['’]re| are)(?: absolutely)? right|alright)\s?[!,.:;—-]\s*)+(?=\S{2})/iu;
/** Says what comes next. */
const INTENTION =
  /^(?:now |next,? |then |first,? |so |but |ok(?:ay)?,? )?(?:let(?:['’]s| me| us)|i['’]ll|i will|i(?:['’]m| am) going to|i need to|we need to|i should)\b/i;
/** Notices or asks, and says nothing that is settled. */
const WONDERS = /^(?:oh|ah|hm+|wait|huh)\b|\?$/i;
/** Only leads to a list. */
const LEAD_IN =
  /^(?:here(?:['’]s| is| are)\b|what i(?:['’]ve)?\b|(?:key |main |the )?(?:changes?|summary|updates?|solution|results?|findings|fix(?:es)?)\b[^.]{0,40}|now|added|updated|fixed|changed|i (?:updated|changed|added|fixed|made)(?: the following)?)[^.]{0,60}:$/i;
/** Items of a list that are joined into one statement. */
const ITEMS = 3;
/** What says something has so many letters. */
const LEAST_LETTERS = 4;
/** A longer intention also says how, or why. */
const BARE_INTENTION = 60;
/** A shorter sentence beside a call is a cry. */
const BARE_STATEMENT = 25;

/** A sentence with what comes behind it. */
interface Open {
  readonly text: string;
  readonly after: readonly Sentence[];
}

/**
 * What a reply says was done or found: its first sentence that says so, with the first items of the list it leads to.
 * null: it says only what comes next, or nothing.
 *
 * @example
 * conclusionOf("Perfect! I've moved the lexer to its own file. Let me run the tests:"); // "I've moved the lexer to its own file."
 */
export function conclusionOf(reply: string): string | null {
  const sentences = sentencesOf(proseOf(reply));
  for (const [at, { text }] of sentences.entries()) {
    const said = text.replace(INTERJECTION_BEFORE, "");
    if (saysNothing(text) || INTENTION.test(said)) continue;
    return statement({ text: text.replace(INTERJECTION_BEFORE, ""), after: sentences.slice(at + 1, at + 1 + ITEMS * 2) });
  }
  return null;
}

/**
 * What a model says beside calls about why it makes them: the first sentence that tells how things are, or what it will do
 * where it also tells how or why, and the next such one where both have room in `maxChars`. Empty: it says nothing of the kind.
 *
 * @example
 * reasonOf("The index is missing, so all is read. Let me add it:", 200); // "The index is missing, so all is read."
 */
export function reasonOf(remark: string, maxChars: number): string {
  const [first = "", second = ""] = sentencesOf(proseOf(remark))
    .map(({ text }) => text.replace(INTERJECTION_BEFORE, ""))
    .filter((text) => !saysNothing(text) && !text.endsWith(":") && text.length >= BARE_STATEMENT)
    .filter((text) => !INTENTION.test(text) || text.length >= BARE_INTENTION);
  return second !== "" && first.length + 1 + second.length <= maxChars ? `${first} ${second}` : first;
}

function saysNothing(sentence: string): boolean {
  const letters = sentence.replace(/[^\p{L}\p{N}]/gu, "").length;
  return letters < LEAST_LETTERS || INTERJECTION.test(sentence) || WONDERS.test(sentence);
}

function statement({ text, after }: Open): string {
  if (!text.endsWith(":")) return text;
  const items = after.filter(({ listed }) => listed).slice(0, ITEMS);
  if (items.length === 0) return text.slice(0, -1);
  const list = items.map((item) => item.text.replace(/[.;:]$/, "")).join("; ");
  return LEAD_IN.test(text) ? list : `${text} ${list}`;
}
