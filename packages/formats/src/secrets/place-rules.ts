import type { SecretRule } from "./secret.js";
import { BARE, ESCAPES, kindByName, NAMED, NO_VALUE } from "./secret-names.js";
import { SETTING_RULES } from "./setting-rules.js";

const NAME_HINTS = /pass|key|secret|token/i;

/** Rules for values with the name of a secret. */
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

/**
 * Rules for values of settings in a text that was put on one line, where no start or end of a line delimits a setting: with a
 * digit after any name; without one where the next setting follows, or where only a setting has such a name.
 */
export const LINE_RULES: readonly SecretRule[] = [
  named(
    String.raw`((?<![\w.-])[\w.-]{0,40}(?:${NAMED}|(?<![A-Za-z])pwd|_token)\s?[:=]\s?)${NO_VALUE}(?=[^\d\s]{0,100}\d)${BARE}{6,512}`,
    "gi",
  ),
  named(
    String.raw`((?<![\w.-])[\w.-]{0,40}(?:${NAMED}|(?<![A-Za-z])pwd)\s?[:=]\s)${NO_VALUE}${BARE}{6,512}(?=\s[\w.-]{1,40}\s?[:=]\s|\s?…$)`,
    "gi",
  ),
  named(String.raw`((?<![\w.-])(?:[\w-]{1,40}[_.]${NAMED}\s?[:=]|[\w.-]{0,40}${NAMED}\s=)\s)${NO_VALUE}${BARE}{6,512}`, "gi"),
];

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
  client(
    ["docker", "podman", "nerdctl", "buildah", "helm"],
    "(?:docker|podman|nerdctl|buildah|helm registry) login",
    "(?:-p|--password)[ =]?",
  ),
  // echo PASSWORD | sudo -S, and programs that read a password or token from their input
  {
    kind: "password",
    hints: ["echo", "printf"],
    pattern: new RegExp(
      String.raw`(\b(?:echo|printf)\s{1,4}(?:-n\s{1,4}|-e\s{1,4}){0,2}${ESCAPES}["']?)${NO_VALUE}(?!-)[^\s"'|\\]{4,200}(?=${ESCAPES}["']?\s{0,4}\|\s{0,4}(?:sudo\b[^\n|]{0,60}\s-S\b|[^\n|]{1,200}--(?:password-stdin|with-token)\b))`,
      "g",
    ),
  },
  { kind: "password", hints: ["sudo"], pattern: /(\bsudo\s[^\n|]{0,60}-S\b[^\n|]{0,200}<<<\s{0,3}["']?)(?![$<{*[-])[^\s"']{4,200}/g },
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
  ...SETTING_RULES,
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
