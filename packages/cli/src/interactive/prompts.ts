import type { Session } from "@bough/session-core";
import { textOf } from "@bough/session-core";

const MOST = 100;

/** What the person said on the path of the leaf, oldest first: for the arrows of the prompt. */
export async function promptsOf(session: Session): Promise<readonly string[]> {
  const { items } = await session.scan({ order: "up", types: ["message"], roles: ["user"], limit: MOST });
  const texts = items.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [textOf(entry.message.content)] : [],
  );
  return texts.filter((text) => text.trim() !== "").reverse();
}
