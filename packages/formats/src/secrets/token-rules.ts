import type { SecretRule } from "./secret.js";

// The text before a token: a character that is not part of a word, an underscore that starts a word (as Markdown marks it), an escaped
// line break or character of JSON, an encoded character of a URL, or a color code. A token cannot start in the middle of a run, so each
// run is read once.
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=(?<![A-Za-z0-9-])_)|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-F]{2})|(?<=\u001b\[[0-9;]{0,9}m))`;

/**
 * A rule for tokens with one of these prefixes, followed by `rest`. The pattern checks the text before the token after the prefix: a check
 * before the prefix, at each position of the text, would take 50 times as long.
 */
function token(kind: string, prefixes: string | readonly string[], rest: string): SecretRule {
  const hints = [prefixes].flat();
  const prefix = `(?:${hints.map((hint) => hint.replaceAll(".", "\\.")).join("|")})`;
  return { kind, hints, pattern: new RegExp(`${prefix}(?<=${START}${prefix})${rest}`, "g") };
}

/** A rule for tokens without a prefix, whose first character is one of `first`. */
function shaped(kind: string, hint: string | RegExp, first: string, rest: string): SecretRule {
  return { kind, hints: typeof hint === "string" ? [hint] : hint, pattern: new RegExp(`${first}(?<=${START}${first})${rest}`, "g") };
}

/** Names in kebab case begin like keys; a key has a digit, and 16 letters or digits in a row. */
const KEY_BODY = "(?=[A-Za-z_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Za-z0-9]{16})[A-Za-z0-9_-]{16,}";
/** After the last character of a token of fixed length. */
const END = "(?![A-Za-z0-9_-])";
const AWS_IDS = ["AKIA", "ASIA", "ABIA", "ACCA"];

/** Keys and tokens with a known prefix or shape. Hashes of commits and UUIDs have none and stay. */
export const TOKEN_RULES: readonly SecretRule[] = [
  // Models
  token("Anthropic key", "sk-ant-", KEY_BODY),
  token("OpenRouter key", "sk-or-", KEY_BODY),
  token("Langfuse key", "sk-lf-", "[0-9a-f-]{36}"),
  token("OpenAI key", ["sk-", "sess-"], `(?!ant-|or-|lf-)${KEY_BODY}`),
  token("Groq key", "gsk_", KEY_BODY),
  token("xAI key", "xai-", KEY_BODY),
  token("Perplexity key", "pplx-", KEY_BODY),
  token("Replicate token", "r8_", "[A-Za-z0-9]{37}"),
  token("Hugging Face token", ["hf_", "api_org_"], "[A-Za-z0-9]{30,}"),
  token("Tavily key", "tvly-", KEY_BODY),
  token("LangSmith key", ["lsv2_pt_", "lsv2_sk_"], "[0-9a-f]{32}_[0-9a-f]{10}"),
  token("Pinecone key", "pcsk_", "[A-Za-z0-9_]{40,}"),
  // Clouds
  token("AWS key id", AWS_IDS, `[0-9A-Z]{16}${END}`),
  {
    kind: "AWS secret key",
    hints: AWS_IDS,
    pattern: /((?:AKIA|ASIA)[0-9A-Z]{16}[^A-Za-z0-9/+=\n]{1,3})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g,
  },
  token("Google key", "AIza", "[0-9A-Za-z_-]{20,}"),
  token("Google OAuth secret", ["GOCSPX-", "ya29."], "[A-Za-z0-9_-]{20,}"),
  token("Google OAuth secret", "1//0", "[A-Za-z0-9_-]{40,}"),
  shaped("Azure secret", "Q~", "[A-Za-z0-9_~.]", `[A-Za-z0-9_~.-]{2}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])`),
  shaped("Azure secret", "JQQJ9", "[A-Za-z0-9]", `[A-Za-z0-9]{51}JQQJ9[A-Za-z0-9]{27}${END}`),
  token("DigitalOcean token", ["doo_v1_", "dop_v1_", "dor_v1_"], "[0-9a-f]{64}"),
  token("Databricks token", "dapi", `[0-9a-f]{32}(?:-[0-9])?${END}`),
  token("Heroku key", "HRKU-", "[A-Za-z0-9_-]{30,}"),
  token("Cloudflare key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"),
  token("Netlify token", ["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], `[A-Za-z0-9]{36}${END}`),
  token("Supabase key", "sbp_", "[0-9a-f]{40}"),
  token("Supabase key", "sb_secret_", "[A-Za-z0-9_-]{20,}"),
  token("PlanetScale token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_.-]{32,}"),
  token("Fly.io token", "FlyV1 ", "[A-Za-z0-9_+/=-]{40,}(?:,[A-Za-z0-9_+/=-]{10,})*"),
  token("Tailscale key", "tskey-", "[a-z]{3,12}-[A-Za-z0-9-]{20,}"),
  token("Vault token", ["hvs.", "hvb."], "[A-Za-z0-9_-]{24,}"),
  shaped("Terraform token", ".atlasv1.", "[A-Za-z0-9]", "[A-Za-z0-9]{13}\\.atlasv1\\.[A-Za-z0-9_=-]{60,}"),
  token("Pulumi token", "pul-", `[0-9a-f]{40}${END}`),
  token("Doppler token", ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "[A-Za-z0-9._-]{40,}"),
  // Code and packages
  token("GitHub token", ["gho_", "ghp_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{36,}"),
  token("GitHub token", "github_pat_", "[A-Za-z0-9_]{22,}"),
  token(
    "GitLab token",
    ["glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-"],
    "[A-Za-z0-9_.-]{20,}",
  ),
  token("npm token", "npm_", `[A-Za-z0-9]{36}${END}`),
  token("PyPI token", "pypi-", "[A-Za-z0-9_-]{50,}"),
  token("RubyGems token", "rubygems_", "[0-9a-f]{48}"),
  token("crates.io token", "cio", `(?=[A-Za-z]*[0-9])[A-Za-z0-9]{32}${END}`),
  token("Docker token", ["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{20,}"),
  token("Atlassian token", ["ATATT3", "ATCTT3"], "[A-Za-z0-9_=-]{60,}"),
  token("Linear key", ["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{32,}"),
  token("CI token", ["CCIPAT_", "bkua_", "AKCp"], "[A-Za-z0-9_]{40,}"),
  token("Sentry token", "sntrys_eyJ", "[A-Za-z0-9+/=_]{40,}"),
  token("Sentry token", "sntryu_", "[0-9a-f]{64}"),
  token("Datadog key", ["ddapp_", "ddpat_"], "[A-Za-z0-9]{32,}"),
  token("Grafana token", "glsa_", "[A-Za-z0-9]{32}_[0-9a-f]{8}"),
  token("Grafana token", "glc_", "[A-Za-z0-9+/]{32,}={0,2}"),
  token("New Relic key", ["NRAK-", "NRAL-", "NRII-", "NRRA-"], "[A-Za-z0-9-]{27,}"),
  token("Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
  // Messages
  token(
    "Slack token",
    ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe.xoxb-", "xoxe.xoxp-", "xapp-"],
    "(?=[A-Za-z-]{0,20}[0-9])[A-Za-z0-9-]{10,}",
  ),
  token("Slack webhook", "https://hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}"),
  shaped("Discord token", /[MNO][A-Za-z0-9]{23,27}\./, "[MNO]", `[A-Za-z0-9]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}${END}`),
  token(
    "Discord webhook",
    ["https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"],
    "[0-9]{10,25}/[A-Za-z0-9_-]{50,}",
  ),
  shaped("Telegram token", ":A", "[0-9]", `[0-9]{7,9}:A[A-Za-z0-9_-]{34}${END}`),
  token("SendGrid key", "SG.", "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{32,}"),
  token("Twilio key", "SK", `[0-9a-f]{32}${END}`),
  token("Mailgun key", "key-", `[0-9a-f]{32}${END}`),
  shaped("Mailchimp key", "-us", "[0-9a-f]", `[0-9a-f]{31}-us[0-9]{1,2}${END}`),
  token("Resend key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
  // Business
  token("Stripe key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], "[A-Za-z0-9]{16,}"),
  token("Stripe key", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}"),
  token("Square token", ["sq0atp-", "sq0csp-"], "[A-Za-z0-9_-]{22,}"),
  token("Square token", "EAAA", `[A-Za-z0-9_-]{60}${END}`),
  token("Shopify token", ["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"], "[0-9a-fA-F]{32}"),
  token("Notion token", "secret_", `[A-Za-z0-9]{43}${END}`),
  token("Notion token", "ntn_", `[0-9]{11}[A-Za-z0-9]{35}${END}`),
  token("Airtable token", "pat", "[A-Za-z0-9]{14}\\.[0-9a-f]{64}"),
  token("Figma token", "figd_", "[A-Za-z0-9_-]{40,}"),
  // General
  token("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
  // As crypt(3), Apache, Django and LDAP write them.
  {
    kind: "password hash",
    hints: ["$1$", "$5$", "$6$", "$apr1$", "$y$", "$gy$", "$7$", "$2$", "$2a$", "$2b$", "$2x$", "$2y$", "$argon2", "pbkdf2_sha"],
    pattern:
      /\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|\$(?:1|5|6|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|\$(?:y|gy|7)\$[./A-Za-z0-9]{1,20}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}|\$argon2(?:id|i|d)\$v=\d{1,3}\$m=\d{1,9},t=\d{1,5},p=\d{1,4}\$[A-Za-z0-9+/]{8,100}\$[A-Za-z0-9+/]{20,200}|\bpbkdf2_sha\d{1,3}\$\d{1,9}\$[^$\s]{1,64}\$[A-Za-z0-9+/]{27,90}={0,2}/g,
  },
  { kind: "password hash", hints: ["{SHA", "{SSHA"], pattern: /\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{27,120}={0,2}/g },
  // Two JSON objects and a signature.
  token("JSON web token", "eyJ", "[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*"),
];

const ESCAPED = /[.*+?^${}()|[\]\\/]/g;

/** Part of every match of `TOKEN_RULES`: most texts are searched only for this. */
export const TOKEN_HINT = new RegExp(
  TOKEN_RULES.flatMap(({ hints }) => (hints instanceof RegExp ? [hints.source] : hints.map((hint) => hint.replace(ESCAPED, "\\$&")))).join(
    "|",
  ),
);

/** The rules of which a hint is a text, by the first two characters of each hint, and the hint. */
const BY_START = new Map<number, { readonly rule: SecretRule; readonly hint: string }[]>();
/** 1 where a hint may start, by a number of its first two characters. */
const STARTS = new Uint8Array(0x10000);
for (const rule of TOKEN_RULES) {
  for (const hint of rule.hints instanceof RegExp ? [] : rule.hints) {
    const [first, second] = [hint.charCodeAt(0), hint.charCodeAt(1)];
    STARTS[startOf(first, second)] = 1;
    BY_START.set(keyOf(first, second), [...(BY_START.get(keyOf(first, second)) ?? []), { rule, hint }]);
  }
}

function startOf(first: number, second: number): number {
  return (first * 31 + second) & 0xffff;
}

function keyOf(first: number, second: number): number {
  return first * 0x10000 + second;
}

/** The rules that may match in a text, in their order. One pass of the text: looking for each of 150 hints takes six times as long. */
export function tokenRulesFor(text: string): readonly SecretRule[] {
  const hinted = new Set<SecretRule>();
  let first = text.charCodeAt(0);
  for (let at = 1; at < text.length; at += 1) {
    const second = text.charCodeAt(at);
    if (STARTS[startOf(first, second)] === 1)
      for (const { rule, hint } of BY_START.get(keyOf(first, second)) ?? [])
        if (!hinted.has(rule) && text.startsWith(hint, at - 1)) hinted.add(rule);
    first = second;
  }
  return TOKEN_RULES.filter((rule) => hinted.has(rule) || (rule.hints instanceof RegExp && rule.hints.test(text)));
}
