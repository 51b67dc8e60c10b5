import { applyReplacements, type Replacement, revertReplacement } from "../recall/apply-change.js";
import { type FileChange, textWritten } from "../recall/file-change.js";
import { AttributedText, isTelling, keyOf, type Mark } from "./attributed-text.js";

/** An event in the life of a file, as far as lines are concerned. */
export interface LineEvent {
  readonly change: FileChange;
  /** A shell command that names the file and may have changed it; null: the event is a call of a file tool. */
  readonly script: string | null;
  /** False: no result of the call is recorded, so it may not have happened. */
  readonly isDone: boolean;
}

/** The event that wrote a line. */
export type TracedLine =
  | { readonly verdict: "written"; readonly event: number; readonly reason: null }
  | { readonly verdict: "perhaps"; readonly event: number; readonly reason: string }
  | { readonly verdict: "none"; readonly event: null; readonly reason: string };

const NO_RESULT = "no result of the call is recorded, so it may not have run";
const WRITTEN_AGAIN = "a later change that cannot be replayed has a line like it";
const UNKNOWN_BASE = "the call wrote the whole file, and what it replaced is not known";
const COMMAND = "a shell command has this line; what it did to the file is not known";
const MOVED = "a call wrote this line, but something that no session shows has changed its place since";
const LOST = "a call wrote this line, but where in the file is not known";
const OTHER_TREE = "a call wrote this line to the file in another working tree of the repository";
const BEFORE = "it was there before the first call that is known to have written here";
const NOWHERE = "no call of a session wrote it";

/**
 * Decides for each line of a text which event wrote it: replays the events, oldest first, and compares what they leave with the text. A
 * line is `written` by an event if the event put exactly this line (white space apart) at this place and no event after it replaced it.
 *
 * @param elsewhere Events of the same file in other working trees. Their indexes follow those of `events`; none of them is certain.
 * Cost: linear in the text for each event that changes it.
 */
export function traceLines(events: readonly LineEvent[], elsewhere: readonly LineEvent[], current: string): readonly TracedLine[] {
  const replay = new LineReplay(events, toUnix(current));
  for (const at of events.keys()) replay.apply(at);
  return replay.finish(elsewhere);
}

/** Most texts before an edit that are reconstructed from a later one: each costs a replay backwards. */
const MOST_REWINDS = 30;

class LineReplay {
  readonly #events: readonly LineEvent[];
  readonly #current: string;
  #known: AttributedText | undefined;
  /** True after an event that says that there was a file, though not which text it had. */
  #hasUnknownBase = false;
  #rewinds = 0;
  /** Events whose lines are not in the known text. */
  readonly #lost = new Set<number>();

  constructor(events: readonly LineEvent[], current: string) {
    this.#events = events;
    this.#current = current;
  }

  apply(index: number): void {
    const event = this.#events[index];
    if (event === undefined) return;
    const { change, script, isDone } = event;
    const doubt = isDone ? null : NO_RESULT;
    switch (change.kind) {
      case "write":
        this.#write(index, toUnix(change.text), doubt);
        break;
      case "read":
        this.#see(index, toUnix(change.text));
        break;
      case "edit":
        if (change.before !== null) this.#see(index, toUnix(change.before));
        this.#edit(index, change.replacements, doubt);
        break;
      case "move":
        this.#edit(index, change.replacements, doubt);
        break;
      case "delete":
        this.#known = undefined;
        this.#hasUnknownBase = false;
        break;
      case "unknown":
        this.#lose(index, script === null ? WRITTEN_AGAIN : COMMAND);
        break;
      case "nothing":
        this.#hasUnknownBase ||= this.#known === undefined;
        break;
    }
  }

  finish(elsewhere: readonly LineEvent[]): readonly TracedLine[] {
    this.#see(this.#events.length, this.#current);
    const written = indexWritten([...this.#events, ...elsewhere]);
    const lines = this.#current.split("\n");
    return (this.#known?.marks ?? []).map((mark, line) => this.#judge(mark, keyOf(lines[line] ?? ""), written));
  }

  #judge(mark: Mark, key: string, written: ReadonlyMap<string, readonly number[]>): TracedLine {
    if (mark.kind === "event") {
      const { event, doubt } = mark;
      return doubt === null ? { verdict: "written", event, reason: null } : { verdict: "perhaps", event, reason: doubt };
    }
    const wroteIt = isTelling(key) ? (written.get(key) ?? []) : [];
    const own = wroteIt.filter((event) => event < mark.seenAt && (mark.isNew || this.#lost.has(event)));
    const possible = own.length > 0 ? own : wroteIt.filter((event) => event >= this.#events.length);
    const event = possible.at(-1);
    if (event === undefined) return { verdict: "none", event: null, reason: mark.isNew ? NOWHERE : BEFORE };
    const again = possible.length === 1 ? "" : ` (${possible.length} calls wrote a line like it; this is the last of them)`;
    return { verdict: "perhaps", event, reason: `${this.#explain(event)}${again}` };
  }

  #explain(event: number): string {
    const found = this.#events[event];
    if (found === undefined) return OTHER_TREE;
    if (found.script !== null) return COMMAND;
    return this.#lost.has(event) ? LOST : MOVED;
  }

  #write(at: number, text: string, doubt: string | null): void {
    const base = this.#hasUnknownBase ? UNKNOWN_BASE : null;
    const mark: Mark = { kind: "event", event: at, doubt: doubt ?? (this.#known === undefined ? base : null) };
    if (this.#known === undefined) this.#known = new AttributedText(text, mark);
    else this.#known.become(text, mark);
    this.#hasUnknownBase = false;
  }

  /** The text was seen before the event `at`. */
  #see(at: number, text: string): void {
    if (this.#known === undefined) this.#known = new AttributedText(text, { kind: "seen", seenAt: at, isNew: false });
    else this.#known.become(text, { kind: "seen", seenAt: at, isNew: true });
  }

  #edit(at: number, replacements: readonly Replacement[], doubt: string | null): void {
    const unix = replacements.map(toUnixReplacement);
    const [first] = unix;
    const creates = first?.kind === "text" && first.before === "" && this.#known === undefined && !this.#hasUnknownBase;
    if (creates) this.#known = new AttributedText("", { kind: "event", event: at, doubt });
    const applied = this.#fit(unix) ?? (this.#rewindTo(at) ? this.#fit(unix) : undefined);
    if (applied === undefined) this.#lose(at, WRITTEN_AGAIN);
    for (const splice of applied?.splices ?? []) this.#known?.splice(splice, at, doubt);
  }

  #fit(replacements: readonly Replacement[]) {
    return this.#known === undefined ? undefined : applyReplacements(this.#known.text, replacements);
  }

  #lose(at: number, doubt: string): void {
    this.#lost.add(at);
    const event = this.#events[at];
    if (event !== undefined) this.#known?.doubtLines(touchedKeys(event), doubt);
    this.#hasUnknownBase ||= this.#known === undefined;
  }

  /**
   * Takes the text before an event from the next text that is known whole, by reverting the events between both. False: there is none,
   * or it is what is known already.
   */
  #rewindTo(index: number): boolean {
    if (this.#rewinds >= MOST_REWINDS) return false;
    this.#rewinds += 1;
    const seen = this.#nextSeen(index);
    if (seen === undefined) return false;
    let { text } = seen;
    for (const { change } of this.#events.slice(index, seen.at).reverse()) {
      if (change.kind !== "edit" && change.kind !== "move") continue;
      for (const replacement of change.replacements.toReversed()) text = revertReplacement(text, toUnixReplacement(replacement)) ?? text;
    }
    if (this.#known === undefined) this.#known = new AttributedText(text, { kind: "seen", seenAt: seen.at, isNew: false });
    else if (this.#known.text === text) return false;
    else this.#known.become(text, { kind: "seen", seenAt: seen.at, isNew: true });
    return true;
  }

  /** The next whole text after the start of an event, unless the file is written anew before. */
  #nextSeen(at: number): { readonly at: number; readonly text: string } | undefined {
    for (let next = at + 1; next < this.#events.length; next += 1) {
      const change = this.#events[next]?.change;
      if (change?.kind === "read") return { at: next, text: toUnix(change.text) };
      if (change?.kind === "edit" && change.before !== null) return { at: next, text: toUnix(change.before) };
      if (change?.kind === "write" || change?.kind === "delete") return undefined;
    }
    return { at: this.#events.length, text: this.#current };
  }
}

function toUnix(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function toUnixReplacement(replacement: Replacement): Replacement {
  switch (replacement.kind) {
    case "text":
      return { ...replacement, before: toUnix(replacement.before), after: toUnix(replacement.after) };
    case "insert":
      return { ...replacement, text: toUnix(replacement.text) };
    case "lines":
      return replacement;
  }
}

/** The events that wrote each line, by its key, oldest first. */
function indexWritten(events: readonly LineEvent[]): ReadonlyMap<string, readonly number[]> {
  const byLine = new Map<string, number[]>();
  for (const [at, event] of events.entries()) {
    for (const key of new Set(writtenTexts(event).flatMap((text) => toUnix(text).split("\n").map(keyOf)))) {
      if (!isTelling(key)) continue;
      const known = byLine.get(key);
      if (known === undefined) byLine.set(key, [at]);
      else known.push(at);
    }
  }
  return byLine;
}

function writtenTexts({ change, script }: LineEvent): readonly string[] {
  const own = script === null ? [] : [script];
  if (change.kind === "write") return [change.text];
  if (change.kind === "edit" || change.kind === "move") return change.replacements.map(textWritten);
  return change.kind === "unknown" ? [...own, ...change.written] : own;
}

/** The keys of the lines that a change writes or replaces. */
function touchedKeys(event: LineEvent): ReadonlySet<string> {
  const { change } = event;
  const replaced = change.kind === "edit" || change.kind === "move" ? change.replacements.map(textReplaced) : [];
  const texts = [...writtenTexts(event), ...replaced];
  return new Set(texts.flatMap((text) => toUnix(text).split("\n").map(keyOf)).filter(isTelling));
}

function textReplaced(replacement: Replacement): string {
  switch (replacement.kind) {
    case "text":
      return replacement.before;
    case "lines":
      return replacement.before.join("\n");
    case "insert":
      return "";
  }
}
