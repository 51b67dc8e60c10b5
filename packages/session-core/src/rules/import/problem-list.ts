import { quoted } from "../../ids/ids.js";
import type { ImportedSession } from "../../port/session-storage.js";
import type { ImportProblem } from "../../port/source.js";

/** The maximum number of problems of one code that are kept. Further ones are only counted, which bounds the memory for a damaged file. */
const MOST_OF_A_CODE = 1000;

/** The longest message of a problem, in characters. A message may quote the file, so it is cut. */
const MESSAGE_LENGTH = 500;

/** The problems of an import. */
export class ProblemList {
  readonly #problems: ImportProblem[] = [];
  readonly #counts = new Map<ImportProblem["code"], number>();

  add(problem: ImportProblem): void {
    const count = (this.#counts.get(problem.code) ?? 0) + 1;
    this.#counts.set(problem.code, count);
    if (count <= MOST_OF_A_CODE) this.#problems.push({ ...problem, message: quoted(problem.message, MESSAGE_LENGTH) });
  }

  get result(): Pick<ImportedSession, "problems" | "problemCount" | "problemCounts"> {
    return {
      problems: this.#problems,
      problemCount: [...this.#counts.values()].reduce((sum, count) => sum + count, 0),
      problemCounts: Object.fromEntries(this.#counts),
    };
  }
}
