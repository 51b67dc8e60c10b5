import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSecrets } from "../../src/secrets/find-secrets.js";
import { maskSecrets, SecretMasker } from "../../src/secrets/mask-secrets.js";
import { redact } from "../../src/secrets/redact.js";
import { describeSecrets } from "../../src/secrets/secret.js";

// Put together at run time, so that no scanner of this repository takes them for real ones.
const hex = (length: number) => "9f4c2e71b8d03a56".repeat(12).slice(0, length);
const word = (length: number) => "k7Qz2Vn9Rb4Xw8Lt5Hd3".repeat(10).slice(0, length);
const upper = (length: number) => word(length).toUpperCase();

/** Every kind, with a text that has this shape. */
const TOKENS: readonly (readonly [kind: string, token: string])[] = [
  ["Anthropic key", `sk-ant-api03-${word(80)}-${word(8)}AA`],
  ["Anthropic key", `sk-ant-oat01-${word(86)}`],
  ["OpenRouter key", `sk-or-v1-${hex(64)}`],
  ["Langfuse key", `sk-lf-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  ["OpenAI key", `sk-${word(48)}`],
  ["OpenAI key", `sk-proj-${word(60)}_${word(60)}`],
  ["OpenAI key", `sk-svcacct-${word(60)}`],
  ["Groq key", `gsk_${word(52)}`],
  ["xAI key", `xai-${word(80)}`],
  ["Perplexity key", `pplx-${word(48)}`],
  ["Replicate token", `r8_${word(37)}`],
  ["Hugging Face token", `hf_${word(34)}`],
  ["Tavily key", `tvly-dev-${word(32)}`],
  ["LangSmith key", `lsv2_pt_${hex(32)}_${hex(10)}`],
  ["Pinecone key", `pcsk_${word(60)}`],
  ["AWS key id", `AKIA${upper(16)}`],
  ["AWS key id", `ASIA${upper(16)}`],
  ["Google key", `AIza${word(35)}`],
  ["Google OAuth secret", `GOCSPX-${word(28)}`],
  ["Google OAuth secret", `ya29.${word(60)}`],
  ["Google OAuth secret", `1//0${word(60)}`],
  ["Azure secret", `abc8Q~${word(34)}`],
  ["Azure secret", `${word(52)}JQQJ9${word(27)}`],
  ["DigitalOcean token", `dop_v1_${hex(64)}`],
  ["Databricks token", `dapi${hex(32)}`],
  ["Heroku key", `HRKU-AA${word(58)}`],
  ["Cloudflare key", `v1.0-${hex(24)}-${hex(146)}`],
  ["Netlify token", `nfp_${word(36)}`],
  ["Supabase key", `sbp_${hex(40)}`],
  ["Supabase key", `sb_secret_${word(31)}`],
  ["PlanetScale token", `pscale_tkn_${word(43)}`],
  ["Fly.io token", `FlyV1 fm2_${word(60)}`],
  ["Tailscale key", `tskey-auth-${word(12)}-${word(32)}`],
  ["Vault token", `hvs.${word(95)}`],
  ["Terraform token", `${word(14)}.atlasv1.${word(67)}`],
  ["Pulumi token", `pul-${hex(40)}`],
  ["Doppler token", `dp.pt.${word(43)}`],
  ["GitHub token", `ghp_${word(36)}`],
  ["GitHub token", `gho_${word(36)}`],
  ["GitHub token", `github_pat_${word(22)}_${word(59)}`],
  ["GitLab token", `glpat-${word(20)}`],
  ["GitLab token", `gldt-${word(20)}`],
  ["npm token", `npm_${word(36)}`],
  ["PyPI token", `pypi-AgEIcHlwaS5vcmc${word(60)}`],
  ["RubyGems token", `rubygems_${hex(48)}`],
  ["crates.io token", `cio${word(32)}`],
  ["Docker token", `dckr_pat_${word(27)}`],
  ["Atlassian token", `ATATT3${word(180)}`],
  ["Linear key", `lin_api_${word(40)}`],
  ["CI token", `CCIPAT_${word(22)}_${hex(40)}`],
  ["Sentry token", `sntrys_eyJ${word(90)}`],
  ["Sentry token", `sntryu_${hex(64)}`],
  ["Datadog key", `ddapp_${word(34)}`],
  ["Grafana token", `glsa_${word(32)}_${hex(8)}`],
  ["New Relic key", `NRAK-${upper(27)}`],
  ["Postman key", `PMAK-${hex(24)}-${hex(34)}`],
  ["Slack token", `xoxb-123456789012-1234567890123-${word(24)}`],
  ["Slack token", `xapp-1-A0123456789-1234567890123-${hex(64)}`],
  ["Slack webhook", `https://hooks.slack.com/services/T${upper(8)}/B${upper(10)}/${word(24)}`],
  ["Discord token", `M${word(23)}.${word(6)}.${word(38)}`],
  ["Discord webhook", `https://discord.com/api/webhooks/123456789012345678/${word(68)}`],
  ["Telegram token", `123456789:AA${word(33)}`],
  ["SendGrid key", `SG.${word(22)}.${word(43)}`],
  ["Twilio key", `SK${hex(32)}`],
  ["Mailgun key", `key-${hex(32)}`],
  ["Mailchimp key", `${hex(32)}-us14`],
  ["Resend key", `re_${word(8)}_${word(24)}`],
  ["Stripe key", `sk_live_${word(24)}`],
  ["Stripe key", `rk_test_${word(24)}`],
  ["Stripe key", `whsec_${word(32)}`],
  ["Square token", `sq0atp-${word(22)}`],
  ["Shopify token", `shpat_${hex(32)}`],
  ["Notion token", `ntn_12345678901${word(35)}`],
  ["Airtable token", `pat${word(14)}.${hex(64)}`],
  ["Figma token", `figd_${word(40)}`],
  ["age key", `AGE-SECRET-KEY-1${upper(58)}`],
  ["JSON web token", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.${word(43)}`],
];

const kindsIn = (text: string) => findSecrets(text).map(({ start, end, kind }) => [kind, text.slice(start, end)]);

describe("finding a key or token", () => {
  test.each(TOKENS)("%s: %s", (kind, token) => {
    expect(kindsIn(`use ${token}, please`)).toEqual([[kind, token]]);
  });

  test.each([
    ["an escaped line break", (token: string) => `{"text":"use\\n${token}"}`],
    ["an encoded character of a URL", (token: string) => `https://a.example/?state%3D${token}`],
    ["an escaped character of JSON", (token: string) => `{"a":"\\u003d${token}"}`],
    ["a color code", (token: string) => `\u001b[31m${token}\u001b[0m`],
    ["an equals sign", (token: string) => `X=${token}`],
  ])("after %s", (_name, around) => {
    const token = `ghp_${word(36)}`;
    expect(kindsIn(around(token))).toEqual([["GitHub token", token]]);
  });

  test("an AWS secret key beside its id", () => {
    const [id, key] = [`AKIA${upper(16)}`, `${word(18)}/${word(21)}`];
    expect(kindsIn(`${id},${key}\n`)).toEqual([
      ["AWS key id", id],
      ["AWS secret key", key],
    ]);
  });
});

describe("finding a secret by its place", () => {
  test.each([
    ["Authorization header", `Authorization: Bearer ${word(20)}`, word(20)],
    ["Authorization header", `"authorization": "Basic ${word(24)}=="`, `${word(24)}==`],
    ["cookie", `curl -H 'Cookie: session=${word(20)}; theme=dark' https://a.example`, `session=${word(20)}; theme=dark`],
    ["cookie", `Set-Cookie: sid=${word(20)}; HttpOnly`, `sid=${word(20)}; HttpOnly`],
    ["password in a URL", "git clone https://me:hunter2@git.example/a.git", "hunter2"],
    ["password in a URL", "redis://:s3cr3tpass@cache:6379/0", "s3cr3tpass"],
    ["token in a URL", `https://a.example/hook?access_token=${word(24)}&x=1`, word(24)],
    ["token in a URL", `https://s3.example/a?X-Amz-Signature=${hex(64)}`, hex(64)],
    ["Azure secret", `AccountName=a;AccountKey=${word(86)}==;EndpointSuffix=b`, `${word(86)}==`],
    ["password in a URL", "postgres://me:hunter@22pass@db.example/a", "hunter@22pass"],
    ["password", "DB_PASS=hunter22", "hunter22"],
    ["password", "MAIL_PWD='hunter22'", "hunter22"],
    ["token", 'DEPLOY_TOKEN="hunter22hunter22"', "hunter22hunter22"],
    ["password", "curl -s -u admin:hunter22 https://a.example", "hunter22"],
    ["password", "mysql -h db -u root -phunter22 shop", "hunter22"],
    ["password", "mysqldump -uroot -p'hunt er22' shop", "hunt er22"],
    ["password", "sshpass -p hunter22 ssh ada@a.example", "hunter22"],
    ["password", "redis-cli -h cache -a hunter22 ping", "hunter22"],
    ["password", "machine a.example login me password hunter22", "hunter22"],
    ["token", `//registry.example/:_authToken=${word(30)}`, word(30)],
    ["password", "db_password: hunter22\nuser: me", "hunter22"],
    ["API key", `  x-api-key: ${word(24)}`, word(24)],
    ["API key", `{"apiKey":"${word(24)}"}`, word(24)],
    ["API key", `DD_API_KEY=${hex(32)}`, hex(32)],
    ["secret", `TWILIO_CLIENT_SECRET="${hex(32)}"`, hex(32)],
    ["secret", `aws_secret_access_key = ${word(40)}`, word(40)],
    ["token", `CI_JOB_TOKEN=${word(20)}`, word(20)],
    ["token", `deploy --token ${word(20)}`, word(20)],
    ["private key", `    client-key-data: ${word(120)}==`, `${word(120)}==`],
    ["API key", `curl -H "X-API-Key: ${word(32)}" https://a.example`, word(32)],
    ["password", '{"name":"DB_PASSWORD","value":"hunter22"}', "hunter22"],
    ["password", String.raw`{\"Name\": \"DB_PASSWORD\", \"Value\": \"hunter22\"}`, "hunter22"],
    ["password", "- name: DB_PASSWORD\n  value: hunter22", "hunter22"],
    ["API key", `<add key="ApiKey" value="${word(14)}"/>`, word(14)],
    ["password", "<password>hunter22</password>", "hunter22"],
    ["password", "docker login -u me -p hunter22 registry.example", "hunter22"],
    ["password", "db.internal:5432:app:ada:hunter22", "hunter22"],
    ["password", "Server=db;Uid=sa;Pwd=hunter22;Encrypt=true", "hunter22"],
    ["token", `Config{Token: "${word(20)}"}`, word(20)],
    ["token", 'token = "qzvkwxhtplmrbndf"', "qzvkwxhtplmrbndf"],
    ["password", "[smtp]\npassword = swordfishes", "swordfishes"],
    ["password", "db:\n  host: db.internal\n  password: swordfishes", "swordfishes"],
    ["password", "password: qzvkwxhtplmr", "qzvkwxhtplmr"],
    ["API key", `HOME=/root\nSTRIPE_KEY=${word(30)}\nPATH=/bin`, word(30)],
    ["secret", `SENTRY_AUTH=${hex(40)}\nLANG=C`, hex(40)],
    ["password hash", `admin:$apr1$${word(8)}$${word(22)}`, `$apr1$${word(8)}$${word(22)}`],
    ["password hash", `root:$6$${word(8)}$${word(86)}:19000:0:99999:7:::`, `$6$${word(8)}$${word(86)}`],
    ["password hash", `ada:$2b$12$${word(53)}`, `$2b$12$${word(53)}`],
    ["password", "echo hunter22 | sudo -S apt update", "hunter22"],
    ["password", "echo hunter22 | docker login -u me --password-stdin", "hunter22"],
    ["Slack token", `_xoxp-1234567890-${hex(32)}_`, `xoxp-1234567890-${hex(32)}`],
  ])("%s in: %s", (kind, text, secret) => {
    expect(kindsIn(text)).toEqual([[kind, secret]]);
  });

  test.each([
    ["a line break", "\n"],
    ["a terminal's indented line break", "\r\n   "],
    ["a backslash at the end of the line", "\\\n"],
    ["two texts that code joins", '" +\n  "'],
  ])("a token that is divided by %s", (_name, lineBreak) => {
    const token = `${`ghp_${word(36)}`.slice(0, 20)}${lineBreak}${`ghp_${word(36)}`.slice(20)}`;
    expect(kindsIn(`the key is\n"${token}"\nas given`)).toEqual([["GitHub token", token]]);
    expect(kindsIn(`"ghp_${word(36)}"\nghp_later`)).toEqual([["GitHub token", `ghp_${word(36)}`]]);
  });

  test.each([
    ["line breaks", "\n"],
    ["escaped line breaks", "\\n"],
    ["twice escaped line breaks", "\\\\n"],
    ["numbered lines", "\n     7→"],
  ])("a private key with %s", (_name, lineBreak) => {
    const kind = "PRIVATE KEY";
    const key = [`-----BEGIN ${kind}-----`, word(64), word(64), `-----END ${kind}-----`].join(lineBreak);
    expect(kindsIn(`before ${key} after`)).toEqual([["private key", key]]);
  });
});

describe("what is no secret", () => {
  test.each([
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "b7e23ec2-9af2-4f6c-8c0e-1f2d3a4b5c6d",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "const key = process.env.OPENAI_API_KEY;",
    "apiKey: process.env.API_KEY ?? ''",
    "password = os.environ['DB_PASSWORD']",
    "OLD_PWD=/home/me/app PASS=$1",
    "mysql -u root -p shop",
    "mysql -p$DB_PASS -P 3306 shop",
    "export OPENAI_API_KEY=sk-...",
    "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx1",
    "ANTHROPIC_API_KEY=<your-key>",
    'API_KEY="your-api-key-here"',
    "AKIAIOSFODNN7EXAMPLE",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/db",
    `postgres://user:\${PASSWORD}@localhost/db`,
    "https://user:$TOKEN@github.com/a/b.git",
    "git@github.com:a/b.git",
    'if (key.startsWith("-----BEGIN PRIVATE KEY-----")) return',
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    'password: z.string().min(8),\ntoken: "string"',
    "interface Auth { password: string; accessToken: string }",
    "sk-loading-spinner-container-2 sk-cube-grid",
    "docker run -u 1000:1000 node",
    "maxTokens: 4096, nextPageToken: page2",
    "the task-force risk-4-many",
    "user = get_user\npassword = other",
    'token = "identifierName"; Token: "StringLiteral"',
    "<password>optional</password> <token>string</token>",
    "src/a.c:10:5:error:unexpected",
    "2001:4860:abcd:12:9",
    "SORT_KEY=created_at\nCACHE_KEY=v1-npm-linux",
    "echo hello | sudo tee /etc/motd",
    "$1$ and $2$ and $6$",
    `data:image/png;base64,${word(190)}${word(190)}`,
  ])("%s", (text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe("masking", () => {
  const [one, two] = [`ghp_${word(36)}`, `ghp_${upper(36)}`];

  test("keeps the kind and numbers the secrets of a kind in the order of their first places", () => {
    const { text, found } = maskSecrets(`a ${one} b ${two} c ${one} d postgres://app:hunter22@db`);
    expect(text).toBe("a [GitHub token 1] b [GitHub token 2] c [GitHub token 1] d postgres://app:[password in a URL 1]@db");
    expect(found).toEqual([
      { kind: "GitHub token", count: 2 },
      { kind: "password in a URL", count: 1 },
    ]);
    expect(describeSecrets(found, "masked")).toBe("3 secrets masked: 2 GitHub tokens, 1 password in a URL");
  });

  test("gives the same secret the same mask in other texts, also where another rule finds it", () => {
    const masker = new SecretMasker();
    expect(masker.maskText("DB_PASSWORD=hunter22")).toBe("DB_PASSWORD=[password 1]");
    expect(masker.maskText("postgres://app:hunter22@db")).toBe("postgres://app:[password 1]@db");
  });

  const pieces = fc.constantFrom(
    ...TOKENS.map(([, token]) => token),
    "password=hunter22",
    "://a:bcd3@",
    "Bearer ",
    '"',
    "\\n",
    "\n",
    "x",
    "=",
  );

  test("changes nothing more the second time, and leaves no token", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 10 }), (some) => {
        const once = maskSecrets(some.join(" ")).text;
        expect(maskSecrets(once).text).toBe(once);
        for (const [, token] of TOKENS) expect(once).not.toContain(token);
      }),
    );
  });

  test("finds what redact replaces: one place for the rules", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 10 }), (some) => {
        const text = some.join(" ");
        const masked = maskSecrets(text).text.replace(/\[[A-Za-z][\w. ]*? \d+\]/g, "[redacted]");
        expect(masked).toBe(redact(text));
      }),
    );
  });
});
