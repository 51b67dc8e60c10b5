import type { CompactionDone, Fidelity } from "@bough/compaction";
import { count } from "../format/numbers.js";
import type { SummaryModel } from "./summary-model.js";

/** Who wrote a summary, in words. */
export function describeMethod(method: CompactionDone["method"], model: SummaryModel | null): string {
  const name = model?.name ?? "a model";
  switch (method) {
    case "normal":
      return name;
    case "strict":
      return `${name}, asked a second time and more strictly`;
    case "extract":
      return model === null
        ? "no model; it is an extract of the entries themselves (a model writes better ones: bough help environment)"
        : `no model; it is an extract of the entries themselves, because ${describeFailure(model)}`;
    case "marker":
      return `nobody: a line says what is missing${model === null ? "" : `, because ${describeFailure(model)}`}`;
    case "hook":
      return "a hook";
  }
}

function describeFailure(model: SummaryModel): string {
  const failure = model.failure();
  return failure === undefined ? `${model.name} wrote none that can be used` : `${model.name} failed: ${failure}`;
}

/** How much of what was found in the source is in the summary. */
export function describeFidelity({ score, total, inSummary }: Fidelity): string {
  const there = Object.values(inSummary).reduce((sum, one) => sum + one, 0);
  if (total === 0) return "none to check";
  return `${count(there)} of ${count(total)} found are in the summary (score ${score.toFixed(2)})`;
}

/** The file lists that a summary's `details` may hold; a hook or another program may have put anything there. */
export function fileLists(details: unknown): { readonly readFiles: readonly string[]; readonly modifiedFiles: readonly string[] } {
  const given = typeof details === "object" && details !== null ? (details as Readonly<Record<string, unknown>>) : {};
  return { readFiles: stringsIn(given["readFiles"]), modifiedFiles: stringsIn(given["modifiedFiles"]) };
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** How many files, in words. */
export function describeFiles({ readFiles, modifiedFiles }: ReturnType<typeof fileLists>): string {
  return `${count(readFiles.length)} read, ${count(modifiedFiles.length)} modified`;
}
