import { type Clipped, clipped, type Limit } from "./clip.js";
import type { MarkdownOptions, ToolOutput } from "./markdown-document.js";
import type { Omissions } from "./omissions.js";
import { escapedLine, visible } from "./visible.js";

const SHORT_OUTPUT: Limit = { lines: 20, characters: 1500 };
/** What a tool was asked says what was done, so it is given more room than what came back. */
const SHORT_INPUT: Limit = { lines: 60, characters: 6000 };

/** What the parts of a document share while it is written: what is wanted, what was left out, the last heading. */
export class Scribe {
  readonly toolOutput: ToolOutput;
  readonly thinking: boolean;
  #heading = "";

  constructor(
    options: MarkdownOptions,
    readonly omitted: Omissions,
  ) {
    this.toolOutput = options.toolOutput ?? "short";
    this.thinking = options.thinking ?? false;
  }

  /** A heading for what one speaker says; none where the speaker goes on, so that a long run of calls reads as one. */
  heading(speaker: string, goesOn = false): readonly string[] {
    const repeats = goesOn && this.#heading === speaker;
    this.#heading = speaker;
    return repeats ? [] : [`## ${escapedLine(speaker)}`];
  }

  /** Something stands between: whoever speaks next is named again. */
  interrupt(): void {
    this.#heading = "";
  }

  output(text: string): Clipped {
    return this.#clip(text, SHORT_OUTPUT);
  }

  input(text: string): Clipped {
    return this.#clip(text, SHORT_INPUT);
  }

  #clip(text: string, limit: Limit): Clipped {
    const shown = clipped(visible(text), this.toolOutput === "full" ? null : limit);
    if (shown.missing !== null) this.omitted.count("shortened");
    return shown;
  }
}
