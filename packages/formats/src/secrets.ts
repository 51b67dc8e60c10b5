// The subpath `@bough/formats/secrets`: secrets in texts, found and masked, without the readers of formats.
export { findSecrets } from "./secrets/find-secrets.js";
export { type MaskedText, maskSecrets } from "./secrets/mask-secrets.js";
export { type RedactOptions, redact, withoutSecrets } from "./secrets/redact.js";
export { describeSecrets, type FoundSecret, type SecretCount } from "./secrets/secret.js";
export { type SecretPlace, SessionMasker } from "./secrets/session-masker.js";
export { canHaveSecret, SessionMasks } from "./secrets/session-masks.js";
