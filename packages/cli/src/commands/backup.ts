import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CancelledError } from "../errors.js";
import { bytes } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import { type Command, required } from "./command.js";
import { startProgress } from "./progress.js";

/** `bough backup`: copies the store into a new file while it is in use. */
export const run: Command = async ({ io, out, args: [file], options }) => {
  const path = resolve(io.cwd, required(file));
  await withStore(io, options.store, "read", async (store) => {
    const progress = await startProgress(io, out, "copying");
    const { signal, end } = io.cancelOnInterrupt();
    try {
      await store.backup(path, (done, total) => progress.at(done, total, "pages"), signal);
    } catch (error) {
      if (signal.aborted) throw new CancelledError("Cancelled. No backup was left.", { cause: error });
      throw error;
    } finally {
      progress.end();
      end();
    }
    const { size } = await stat(path);
    if (options.json === true) return out.json({ file: path, bytes: size });
    out.line(`${bytes(size)} copied to ${path}`);
  });
};
