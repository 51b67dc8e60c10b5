import { describeSecrets, SecretMasker } from "@bough/session-core/internals";
import type { PageOptions } from "./page.js";

/** Options of a page that mask secrets (unless `withSecrets`), and say how many of which kind. */
export function pageMasks(withSecrets: boolean): Pick<PageOptions, "mask" | "closing"> {
  if (withSecrets) return { closing: () => ["Secrets are not masked."] };
  const masker = new SecretMasker();
  return {
    mask: (text) => masker.maskText(text),
    closing: () => [masker.counts().length === 0 ? "No secret was found." : `Masked: ${describeSecrets(masker.counts())}.`],
  };
}
