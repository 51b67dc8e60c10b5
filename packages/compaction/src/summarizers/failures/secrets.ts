/** A shorter one is no secret and could stand in any word. */
const MIN_SECRET = 4;

/** A text with each secret replaced by `[hidden]`: a server may repeat the key it was sent. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= MIN_SECRET).reduce((kept, secret) => kept.replaceAll(secret, "[hidden]"), text);
}
