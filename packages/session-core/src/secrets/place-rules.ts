import type { SecretRule } from "./secret.js";

// The end of a name: everything before it may belong to the name as well (DB_PASSWORD, aws_secret_access_key).
const PASSWORD = "(?:password|passwd|passphrase|passcode)";
const KEY = "(?:api[_-]?key|(?:access|account|encryption|signing|master)[_-]?key|private[_-]?key)(?:[_-]?base)?";
const SECRET = "secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?";
const TOKEN = "(?:auth|access|refresh|bearer|session|id|api|bot|deploy|personal[_-]?access)[_-]?token";
const NAMED = `(?:${PASSWORD}|${KEY}|${SECRET}|${TOKEN})`;

/** A reference to a secret, or text that is masked already. */
const NO_VALUE = String.raw`(?![$<{*(\[%]|process\.|os\.|env\.|import\.)`;
const BARE = String.raw`[^\s"'${"`"}<>,;&()\\]`;
/** Quotes, also as JSON inside JSON escapes them. */
const ESCAPES = String.raw`\\{0,7}`;

const NAME_HINTS = /pass|key|secret|token/i;

/** Values with a name that says what they are. */
const NAMED_RULES: readonly SecretRule[] = [
  // "password": "...", apiKey = '...'
  named(String.raw`(${NAMED}${ESCAPES}["']?\s{0,3}(?::=|=>|[:=])\s{0,3}(${ESCAPES}["']))${NO_VALUE}(?:(?!\2)[^\\\n]){4,512}(?=\2)`, "gi"),
  // PASSWORD=... of an environment or a command, but not code that passes on a variable (password=password).
  named(String.raw`(${NAMED}=)${NO_VALUE}(?!${NAMED}(?!\w))${BARE}{4,}`, "gi"),
  // password: hunter2, as a line of YAML or of headers; with a digit, because otherwise it is more often code or prose.
  named(
    String.raw`(^[^\S\n]{0,40}(?:[-+>]\s)?[\w.-]{0,40}${NAMED}[^\S\n]{0,3}[:=][^\S\n]{1,3})${NO_VALUE}(?=[^\d\s]{0,100}\d)${BARE}{6,512}(?=[^\S\n]*$)`,
    "gim",
  ),
];

function named(pattern: string, flags: string): SecretRule {
  return {
    kind: (before) => kindByName(/[\w-]+/.exec(before)?.[0] ?? "") ?? "secret",
    hints: NAME_HINTS,
    pattern: new RegExp(pattern, flags),
  };
}

/** The password of a command's flag, in quotes or without a space. */
function client(hints: readonly string[], command: string, flag: string): SecretRule {
  const before = String.raw`(\b${command}\b[^\n|;&]{0,200}?\s${flag}${ESCAPES}["']?)`;
  const value = String.raw`(?:(?<=["'])[^"'\n\\]{4,100}|[^\s"'\\]{4,100})`;
  return { kind: "password", hints, pattern: new RegExp(`${before}(?![$<{*[-])${value}`, "g") };
}

/** Values identified as secrets by their name or place. */
export const PLACE_RULES: readonly SecretRule[] = [
  {
    kind: "Authorization header",
    hints: ["uthorization", "UTHORIZATION"],
    pattern: new RegExp(
      String.raw`(\bAuthorization${ESCAPES}["']?\s{0,3}[:=]\s{0,3}${ESCAPES}["']?(?:Bearer|Basic|Token|ApiKey)\s{1,3})[A-Za-z0-9._~+/=-]{8,}`,
      "gi",
    ),
  },
  {
    kind: "Authorization header",
    hints: ["Bearer"],
    pattern: /(\bBearer\s{1,3})(?:[A-Za-z0-9._~+/=-]{20,}|(?=[A-Za-z._~+/=-]{0,20}[0-9])[A-Za-z0-9._~+/=-]{8,})/g,
  },
  {
    kind: "cookie",
    hints: ["ookie"],
    pattern: new RegExp(
      String.raw`(\b(?:Set-)?Cookie${ESCAPES}["']?:\s{0,3}${ESCAPES}["']?)(?=[\w.-]{1,80}=[^;\s"'\\]{12})[^\s"'\\]{1,80}=[^\n"'\\]{1,4000}`,
      "gi",
    ),
  },
  {
    kind: "password in a URL",
    hints: ["://"],
    pattern: /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{0,100}:)(?![[$<{*%])[^\s/"'<>]{1,200}(?=@)/gi,
  },
  {
    kind: "token in a URL",
    hints: ["?", "&"],
    pattern:
      /([?&](?:access_token|refresh_token|id_token|auth_token|token|api_?key|apikey|key|sig|signature|client_secret|password|secret|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=)(?=[A-Za-z_%.~-]{0,40}[0-9])[A-Za-z0-9_%.~+/=-]{16,}/gi,
  },
  {
    kind: "Azure secret",
    hints: ["Key="],
    pattern: /(\b(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,88}={0,2}/g,
  },
  // curl -u name:password
  {
    kind: "password",
    hints: ["curl"],
    pattern: /(\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'$<]{1,60}:)(?![$<{*[])[^\s"']{3,100}/g,
  },
  // mysql -pSECRET, sshpass -p SECRET, redis-cli -a SECRET
  client(["mysql", "mariadb"], "(?:mysql(?:dump|admin|import|show)?|mariadb(?:-dump)?)", "-p"),
  client(["sshpass"], "sshpass", "-p ?"),
  client(["redis-cli"], "redis-cli", "-a[ =]"),
  // A file .netrc
  {
    kind: "password",
    hints: ["machine"],
    pattern: /(\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4})(?!\[)\S{3,200}/g,
  },
  // Files .npmrc, .docker/config.json, kubeconfig
  { kind: "token", hints: ["_auth", "_password"], pattern: /(:_(?:authToken|auth|password)\s?=\s?)(?![$[])[^\s"']{8,}/g },
  { kind: "token", hints: ['auth\\":', 'auth":'], pattern: /("auth\\{0,3}"\s{0,3}:\s{0,3}\\{0,3}")[A-Za-z0-9+/]{16,}={0,2}(?=\\{0,3}")/g },
  { kind: "private key", hints: ["-key-data"], pattern: /(\b[a-z]{1,10}-key-data:\s{1,3})[A-Za-z0-9+/]{80,}={0,2}/g },
  ...NAMED_RULES,
  { kind: "token", hints: ["TOKEN="], pattern: new RegExp(`((?<![A-Za-z0-9_])[A-Z0-9_]{0,40}TOKEN=["']?)${NO_VALUE}${BARE}{8,}`, "g") },
  // DB_PASS=... and PASS=..., but not paths, as in OLD_PWD=/home
  {
    kind: "password",
    hints: ["PASS=", "PWD="],
    pattern: new RegExp(`((?<![A-Za-z0-9_])(?:[A-Z0-9_]{0,40}_)?(?:PASS|PWD)=["']?)(?![/~.])${NO_VALUE}${BARE}{6,}`, "g"),
  },
  { kind: "password", hints: ["--"], pattern: new RegExp(`(--(?:password|passwd)[= ])${NO_VALUE}(?!-)${BARE}{4,}`, "gi") },
  {
    kind: "token",
    hints: ["--"],
    pattern: new RegExp(`(--(?:token|secret|api-key|auth-token|access-token)[= ])${NO_VALUE}(?!-)${BARE}{4,}`, "gi"),
  },
];

const KINDS_BY_NAME = [
  ["Authorization header", /^(?:proxy-)?authorization$/i],
  ["cookie", /^(?:set-)?cookie$/i],
  ["secret", new RegExp(`(?:${SECRET}|(?<![a-z])credentials?)$`, "i")],
  ["password", new RegExp(`(?:${PASSWORD}|(?<![a-z])pwd)$`, "i")],
  ["API key", new RegExp(`${KEY}$`, "i")],
  ["token", new RegExp(`(?:${TOKEN}|_token|^token)$`, "i")],
] as const;

/**
 * The kind of secret that a member or variable of this name contains; undefined: its name does not say so.
 *
 * @example
 * kindByName("DB_PASSWORD"); // "password"
 */
export function kindByName(name: string): string | undefined {
  if (name === "") return undefined;
  return KINDS_BY_NAME.find(([, shape]) => shape.test(name))?.[0];
}
