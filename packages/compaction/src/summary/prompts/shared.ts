/** Asked when a first answer was rejected or too large. `maxWords`: the hard size. */
export function strictPrompt(maxWords: number): string {
  return `Write notes on the record from which the work can go on. An earlier answer could not be used, so these rules are strict:
- at most ${maxWords} words; shorter is better
- plain text only: no tool calls, no questions, no preamble, no thinking aloud, no closing remark
- first what the user wants now, then their rules, then what is done, what is open and what comes next
- keep exact file paths, names, commands and error messages of what is still open; leave out everything that is finished and needs no more thought
- where there are notes from before, carry on what still holds of them`;
}

/** The same for an end of a turn, so that a branch or prefix is not mistaken for the whole. */
export const STRICT_ABOUT = {
  history: "",
  "turn-prefix": "The record is the start of a turn; its end is kept elsewhere.",
  branch: "The record is a branch of the conversation that the user has left.",
} as const;

/** Asked when facts of the source are not in a summary. */
export const MISSING_FACTS = `Notes on the conversation have been written, and a check found facts in the record that they leave out. Write the notes anew as a whole, in the same form and not much longer, and work in those of the facts that somebody needs to go on. Keep what the notes say. Copy paths, commands, rules and error messages exactly. Leave out a fact that does not matter any more.`;

/** Asked for a screen: one sentence. */
export const SHORT_SUMMARY = `Say in one sentence of at most 25 words what the notes are about: what was being done, and how far it is. Write it as one would title a piece of work, without a preamble and without markup. Answer with this sentence only.`;

/** Full mode: stands behind the live conversation as one more user message. `keptMessages`: how many of its last stay as they are. */
export function fullPreface(keptMessages: number): string {
  const kept =
    keptMessages > 0
      ? ` Its last ${keptMessages === 1 ? "message stays" : `${keptMessages} messages stay`} word for word: cover what comes before, and read the end only to see where the work stands.`
      : "";
  return `The conversation up to here is about to be shortened: your answer takes its place. Stop the work for this one answer and report on the conversation above, which is called the record below.${kept} A summary at its start is notes from before: carry on what still holds of it.`;
}

/** Full mode: the answer is looked for in the tags. */
export const IN_SUMMARY_TAGS = "Put the whole of the notes into <summary> and </summary>. Nothing outside these tags is read.";

/** Between the two summaries of a split turn; pi's form. */
export const SPLIT_TURN_SEPARATOR = "\n\n---\n\n**Turn Context (split turn):**\n\n";

const MARKER = /\n*\[(\d+) earlier messages were left out here without a summary[^\]]*\]/g;

/** Takes markers out of a text: what is left of it, and how many messages they stood for. */
export function takeMarkers(text: string): { readonly rest: string; readonly messages: number } {
  const messages = [...text.matchAll(MARKER)].reduce((sum, [, count]) => sum + Number(count), 0);
  return { rest: text.replace(MARKER, "").trim(), messages };
}

/** Stands in place of a summary that no model could give; co-cli's static marker. */
export function markerText(messages: number): string {
  return `[${messages} earlier messages were left out here without a summary, because none could be written. They are not lost: ask the user, or look the record up, before assuming anything about them.]`;
}

/** Tells what the notes of a branch are about; the context's own heading says that they are of a branch. */
export const BRANCH_NOTE =
  "The user explored this branch and then went back to an earlier point of the conversation. Files that were changed on it may still be changed.";

/** Behind a summary, for models that stop to ask (VS Code's reminder for GPT-4.1). */
export const KEEP_GOING =
  "The work is not over because the conversation was shortened. Go on with the next step at once; do not greet, do not repeat this summary, and do not ask whether to go on.";
