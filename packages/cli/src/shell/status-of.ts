import type { ChatModel } from "../agent/chat-model.js";
import { DEFAULT_WINDOW } from "../compacting/window-choice.js";
import { roughMessageTokens } from "../format/rough-tokens.js";
import { titleOf } from "../place/session-choice.js";
import type { Status } from "./model.js";
import type { ShellWorld } from "./world.js";

/** Sessions up to this many entries are asked for their cost; it takes a pass over them. */
const MOST_FOR_COST = 20_000;

/**
 * What the status line tells now. Tokens are a rough count until a request was made: the exact one needs half a second of
 * tables that a notebook never needs.
 */
export async function statusOf({ session }: ShellWorld, model: ChatModel | null): Promise<Partial<Status>> {
  const [record, tips, { messages }] = await Promise.all([session.record(), session.tips(), session.context()]);
  const tip = tips.find(({ id }) => id === session.leafId);
  const usedTokens = messages.reduce((sum, message) => sum + roughMessageTokens(message), 0);
  return {
    title: titleOf(record),
    depth: tip === undefined ? await depthOf(session) : tip.depth + 1,
    branches: tips.length,
    model: model?.name ?? null,
    windowTokens: model?.windowTokens ?? DEFAULT_WINDOW,
    usedTokens,
    costUsd: record.entryCount > MOST_FOR_COST ? null : await costOf(session),
  };
}

async function depthOf(session: ShellWorld["session"]): Promise<number> {
  const { leafId } = session;
  if (leafId === null) return 0;
  const { parentId } = await session.entry(leafId);
  const row = (await session.children(parentId)).find(({ id }) => id === leafId);
  return row === undefined ? 0 : row.depth + 1;
}

async function costOf(session: ShellWorld["session"]): Promise<number | null> {
  const { usage } = await session.statistics();
  const cost = usage.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return cost > 0 ? cost : null;
}
