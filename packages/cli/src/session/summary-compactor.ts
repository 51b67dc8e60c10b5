import { type Compactor, createCompactor } from "@bough/compaction";
import type { Session } from "@bough/session-core";
import { loadConfig } from "../config/config-file.js";
import type { Io } from "../terminal/io.js";
import { compactionSettings } from "./compactor.js";
import { chooseSummaryModel } from "./summary-model.js";
import { chooseWindow } from "./window-choice.js";

/** A compactor of a session with the summary model of the environment. Close it. */
export async function openSummaryCompactor(io: Io, session: Session): Promise<Compactor> {
  const model = chooseSummaryModel(io.env, {});
  const { tokens: contextWindow } = await chooseWindow(session, undefined);
  const settings = compactionSettings(await loadConfig(io), { model });
  return createCompactor({ session, contextWindow, summarizer: model?.summarizer ?? [], settings, now: io.now });
}
