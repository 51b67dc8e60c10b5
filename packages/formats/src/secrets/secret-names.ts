// The names of secrets, and the shape of a value after such a name, for all rules of places.

// The end of a name: everything before it may belong to the name as well (DB_PASSWORD, aws_secret_access_key).
const PASSWORD = "(?:password|passwd|passphrase|passcode)";
const KEY = "(?:api[_-]?key|(?:access|account|encryption|signing|master)[_-]?key|private[_-]?key)(?:[_-]?base)?";
const SECRET = "secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?";
const TOKEN = "(?:auth|access|refresh|bearer|session|id|api|bot|deploy|personal[_-]?access)[_-]?token";
/** The end of the name of a secret value. */
export const NAMED = `(?:${PASSWORD}|${KEY}|${SECRET}|${TOKEN})`;

/** A reference to a secret, or text that is masked already. */
export const NO_VALUE = String.raw`(?![$<{*(\[%]|process\.|os\.|env\.|import\.)`;
/** A character of a value without quotes. */
export const BARE = String.raw`[^\s"'${"`"}<>,;&()\\]`;
/** Quotes, also as JSON inside JSON escapes them. */
export const ESCAPES = String.raw`\\{0,7}`;

const KINDS_BY_NAME = [
  ["Authorization header", /^(?:proxy-)?authorization$/i],
  ["cookie", /^(?:set-)?cookie$/i],
  ["secret", new RegExp(`(?:${SECRET}|(?<![a-z])credentials?)$`, "i")],
  ["password", new RegExp(`(?:${PASSWORD}|(?<![a-z])pwd)$`, "i")],
  ["API key", new RegExp(`${KEY}$`, "i")],
  ["token", new RegExp(`(?:${TOKEN}|_token|^token)$`, "i")],
] as const;

/**
 * Returns the kind of secret that a member or variable of this name contains; undefined: it is not the name of a secret.
 *
 * @example
 * kindByName("DB_PASSWORD"); // "password"
 */
export function kindByName(name: string): string | undefined {
  if (name === "") return undefined;
  return KINDS_BY_NAME.find(([, shape]) => shape.test(name))?.[0];
}
