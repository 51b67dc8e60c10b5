import type { Database } from "better-sqlite3";
import { customTypeOf, toEntryKind, toKindNumber } from "../../entry/kinds.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { betterTitle, isTyped, previewOf } from "../../entry/text.js";
import type { OnProgress } from "../../port/connection-options.js";
import { toStoredCustomType } from "../../rules/derived-columns.js";
import { payloadsFrom } from "../file/old-payloads.js";

/** The kinds whose previews changed: what users and models wrote, and messages of programs, which may be slash commands. */
const KINDS = (["user", "assistant", "custom"] as const).map((role) => toKindNumber("message", role)).join(", ");

/**
 * Writes previews again: longer, with what tool calls do relative to the session's directory, and slash commands as they were typed;
 * also the custom types of messages, and the texts that stand for missing titles.
 */
export const tellingRows = {
  name: "0006-telling-rows",
  run(file: Database, onProgress?: OnProgress): void {
    const directories = new Map(
      file
        .prepare<[], { seq: number; cwd: string | null }>("SELECT seq, cwd FROM session")
        .all()
        .map(({ seq, cwd }) => [seq, cwd]),
    );
    const setRow = file.prepare("UPDATE entry SET preview = ?, custom_type = ? WHERE seq = ?");
    const titles = new Map<number, string>();
    for (const { seq, session, kind, json } of payloadsFrom(file, KINDS, onProgress)) {
      const row = json === undefined ? undefined : describe(json, directories.get(session));
      // Its payload is damaged: the row stays as it is, and `verify` reports it.
      if (row === undefined) continue;
      setRow.run(row.preview, toStoredCustomType(row.customType), seq);
      const title = isTyped({ role: toEntryKind(kind).role, ...row }) ? betterTitle(titles.get(session) ?? null, row.preview) : null;
      if (title !== null) titles.set(session, title);
    }
    const setTitle = file.prepare("UPDATE session SET first_text = ? WHERE seq = ?");
    for (const [session, title] of titles) setTitle.run(title, session);
  },
};

function describe(json: string, directory: string | null | undefined) {
  try {
    const payload = parseStoredPayload("message", json);
    return { preview: previewOf(payload, directory), customType: customTypeOf(payload) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
