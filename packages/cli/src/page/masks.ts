import { learnSecrets } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { Session } from "@bough/session-core";
import type { PageOptions } from "./page.js";

/**
 * Options of a page that mask the secrets of its session (unless `withSecrets`), and say how many of which kind. `onMasked` is
 * called with them when all entries are written. A secret of one session is masked in all of them: that of the page and its `subagents`.
 */
export async function pageMasks(
  session: Session,
  withSecrets: boolean,
  onMasked: (counts: readonly SecretCount[]) => void = () => undefined,
  subagents: readonly Session[] = [],
): Promise<Pick<PageOptions, "masks" | "closing">> {
  if (withSecrets) return { closing: () => ["Secrets are not masked."] };
  const masks = await learnSecrets(session);
  for (const subagent of subagents) for await (const entry of subagent.entries()) masks.learn(entry);
  return {
    masks,
    closing: () => {
      const counts = masks.counts();
      onMasked(counts);
      return [counts.length === 0 ? "No secret was found." : `${describeSecrets(counts, "masked")}.`];
    },
  };
}
