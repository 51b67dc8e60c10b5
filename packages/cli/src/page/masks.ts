import { learnSecrets } from "@bough/formats";
import { describeSecrets, type SecretCount, type SessionMasker } from "@bough/formats/secrets";
import type { Session } from "@bough/session-core";
import type { PageOptions } from "./page.js";
import type { StepOptions } from "./step-writer.js";

/** The options of a page whose secrets a masker replaces. */
export function masksBy(masker: SessionMasker): Pick<StepOptions, "mask" | "maskLine" | "maskEntry"> {
  return {
    mask: (text) => masker.maskValue(text),
    maskLine: (text) => masker.maskLine(text),
    maskEntry: (entry) => masker.maskEntry(entry),
  };
}

/**
 * Options of a page that mask the secrets of its session (unless `withSecrets`), and say how many of which kind. `onMasked` is
 * called with them when all entries are written. A secret of one session is masked in all of them: that of the page and its `subagents`.
 */
export async function pageMasks(
  session: Session,
  withSecrets: boolean,
  onMasked: (counts: readonly SecretCount[]) => void = () => undefined,
  subagents: readonly Session[] = [],
): Promise<Pick<PageOptions, "mask" | "maskLine" | "maskEntry" | "closing">> {
  if (withSecrets) return { closing: () => ["Secrets are not masked."] };
  const masker = await learnSecrets(session);
  for (const subagent of subagents) for await (const entry of subagent.entries()) masker.learn(entry);
  return {
    ...masksBy(masker),
    closing: () => {
      const counts = masker.counts();
      onMasked(counts);
      return [counts.length === 0 ? "No secret was found." : `${describeSecrets(counts, "masked")}.`];
    },
  };
}
