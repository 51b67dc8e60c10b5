/** A shorter one is no secret and could stand in any word. */
const MIN_SECRET = 4;

/** What keys look like where nobody told us the key: OpenAI's and Anthropic's, Groq's, xAI's, Google's, and a bearer. */
const KEY_SHAPES = /\b(?:sk|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer [A-Za-z0-9._~+/-]{8,}/g;

/** A text with each secret, and what has the shape of one, replaced by `[hidden]`: a server may repeat the key it was sent. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET).reduce((kept, secret) => kept.replaceAll(secret, "[hidden]"), text);
  return known.replace(KEY_SHAPES, "[hidden]");
}
