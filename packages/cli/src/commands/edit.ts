import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportMarkdown } from "@bough/formats";
import { CommandError } from "../errors.js";
import { chooseSession } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { inTemporaryFolder, toFileName } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import { runProgram } from "../terminal/run-program.js";
import type { Command } from "./command.js";

/** `bough edit`: opens an entry or a branch as Markdown in the editor of the user. The file is a copy; nothing of it is stored. */
export const runEdit: Command<{ readonly branch?: string }> = async ({ io, out, args: [name, entryName], options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const { session, record } = await chooseSession(store, io, out, name, "store");
    const entry = entryName === undefined ? undefined : await session.resolve(entryName);
    const branch = entry ?? (options.branch === undefined ? undefined : await session.resolve(options.branch));
    const range = entry === undefined ? {} : { from: entry, to: entry };
    const pieces = exportMarkdown(session, { branch, ...range, toolOutput: "full", thinking: entry !== undefined });
    await inTemporaryFolder("edit", async (folder) => {
      const file = join(folder, `${toFileName(record.title ?? record.id)}.md`);
      // Readable by its owner only; editors show that it cannot be written.
      await writeFile(file, pieces, { mode: 0o400, flag: "wx" });
      await out.note(styled("dim", "This is a copy: entries never change, so changes in the editor are not stored."));
      await openEditor(io, file);
    });
  });
};

/** The editor is a command line of the user, as for git; the path is an argument of its own, so that no shell reads it. */
async function openEditor(io: Io, file: string): Promise<void> {
  const editor = [io.env["VISUAL"], io.env["EDITOR"]].find((one) => one !== undefined && one.trim() !== "") ?? "vi";
  const isWindows = "SystemRoot" in io.env;
  const [command, args] = isWindows ? ["cmd", ["/c", editor, file]] : ["sh", ["-c", `${editor} "$@"`, editor, file]];
  const exit = await runProgram(io, { command, args });
  if (exit !== 0)
    throw new CommandError(
      "EDITOR_FAILED",
      `The editor '${editor}' ended with ${exit}. Set VISUAL or EDITOR to the command of your editor.`,
    );
}
