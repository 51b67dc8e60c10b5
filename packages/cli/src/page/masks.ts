import { learnSecrets } from "@bough/formats";
import { describeSecrets, type SecretCount } from "@bough/formats/secrets";
import type { Session } from "@bough/session-core";
import type { PageOptions } from "./page.js";

/**
 * Options of a page that mask the secrets of its session (unless `withSecrets`), and say how many of which kind. `onMasked` is
 * called with them when all entries are written.
 */
export async function pageMasks(
  session: Session,
  withSecrets: boolean,
  onMasked: (counts: readonly SecretCount[]) => void = () => undefined,
): Promise<Pick<PageOptions, "mask" | "maskLine" | "maskEntry" | "closing">> {
  if (withSecrets) return { closing: () => ["Secrets are not masked."] };
  const masker = await learnSecrets(session);
  return {
    mask: (text) => masker.maskValue(text),
    maskLine: (text) => masker.maskLine(text),
    maskEntry: (entry) => masker.maskEntry(entry),
    closing: () => {
      const counts = masker.counts();
      onMasked(counts);
      return [counts.length === 0 ? "No secret was found." : `${describeSecrets(counts, "masked")}.`];
    },
  };
}
