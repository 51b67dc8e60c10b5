import { type BlamedEntry, blameFile } from "@bough/compaction";
import { cleanText } from "@bough/session-core/view";
import * as z from "zod";
import { BlameSourceError } from "../errors.js";
import { groupLines, type LineGroup, readWorkingFile } from "../session/blamed-file.js";
import { cutLines, defineTool, INPUT, InvalidInputError, type McpTool, minute } from "./tool.js";

const blameInput = z
  .strictObject({
    path: z.string().min(1).max(4096).describe("The file: an absolute path, or one relative to the directory of the server."),
    from: z.int().min(1).optional().describe("The first line, from 1. Left out: the whole file."),
    to: z.int().min(1).optional().describe("The last line. Left out: only the line `from`."),
    max_chars: INPUT.maxChars,
  })
  .refine(({ from, to }) => to === undefined || (from !== undefined && from <= to), "`to` needs a `from` that is not after it");

/** The tool that names the entry behind a line of a file. It gives the numbers of lines, not their text. */
export const BLAME_TOOL: McpTool = defineTool(
  {
    name: "who_wrote",
    title: "Find who wrote a line",
    description:
      "For the lines of a file on this machine: the entry of an earlier session whose call wrote them, its session, agent, model, time, and what the user had asked for. Use it before you change code whose reason you do not know; read the entry with read_entries. `perhaps` comes with the reason; the rest was not written by a session of the store.",
  },
  blameInput,
  async ({ store, masks, here }, { path, from, to = from, max_chars }) => {
    const { request } = await readFileOf(here, path);
    const lines = from === undefined ? undefined : { from, to: to ?? from };
    const blamed = await blameFile(store, { ...request, lines }, { masks });
    if (blamed.lines.length === 0) return `The file has no line ${from}.`;
    const answers = groupLines(blamed.lines).map((group) => describeGroup(group, blamed.entries));
    return cleanText(cutLines([...answers, ...blamed.notes], max_chars, (left) => `(${left} more: ask for a range with from and to.)`));
  },
);

async function readFileOf(here: Parameters<typeof readWorkingFile>[0], path: string) {
  try {
    return await readWorkingFile(here, path, undefined);
  } catch (error) {
    throw error instanceof BlameSourceError ? new InvalidInputError(error.message) : error;
  }
}

function describeGroup({ line, last, entry: index, verdict, reason }: LineGroup, entries: readonly BlamedEntry[]): string {
  const where = line === last ? `line ${line}` : `lines ${line}-${last}`;
  const entry = entries[index ?? -1];
  if (entry === undefined) return `${where}: not by a session of this store (${reason}).`;
  const { sessionId, entryId, agent, model, createdAtMs, request, title } = entry;
  const who = `[${entryId}] of session ${sessionId} (${[agent, model, minute(createdAtMs)].filter((part) => part !== null).join(", ")}; ${title === null ? "untitled" : JSON.stringify(title)})`;
  const asked = request === null ? "" : ` The user had asked: ${JSON.stringify(request.text)}`;
  return `${where}: ${verdict === "perhaps" ? `perhaps ${who}: ${reason}.` : `${who}.`}${asked}`;
}
