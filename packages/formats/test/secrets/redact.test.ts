import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact } from "../../src/secrets/redact.js";

// Put together at run time, so that no scanner of this repository takes them for real ones.
const A40 = "Ab1".repeat(14).slice(0, 40);
const secrets: Readonly<Record<string, string>> = {
  "an OpenAI key": `sk-proj-${A40}`,
  "an Anthropic key": `sk-ant-api03-${A40}`,
  "a GitHub token": `ghp_${A40.slice(0, 36)}`,
  "a fine-grained GitHub token": `github_pat_${A40}`,
  "a GitLab token": `glpat-${A40.slice(0, 20)}`,
  "a Slack token": `xoxb-${A40.slice(0, 24)}`,
  "an AWS key id": `AKIA${"ABCD1234".repeat(2)}`,
  "a Google key": `AIza${A40.slice(0, 35)}`,
  "an npm token": `npm_${A40.slice(0, 36)}`,
  "a Stripe key": `sk_live_${A40.slice(0, 24)}`,
  "a JSON web token": `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${A40}`,
};

describe("masking secrets", () => {
  test.each(Object.entries(secrets))("masks %s, and leaves the words around it", (_name, secret) => {
    expect(redact(`the key ${secret}, as given`)).toBe("the key [redacted], as given");
  });

  test.each(Object.entries(secrets))("finds %s behind an escaped line break in JSON", (_name, secret) => {
    expect(redact(String.raw`{"text":"use\n${secret}"}`)).not.toContain(secret);
  });

  test.each([
    ["export DB_PASSWORD=hunter22!", "export DB_PASSWORD=[redacted]"],
    ["password=hunter2", "password=[redacted]"],
    ['{"password": "it is long"}', '{"password": "[redacted]"}'],
    [String.raw`{\"client_secret\": \"abcd1234\"}`, String.raw`{\"client_secret\": \"[redacted]\"}`],
    ["apiKey: 'abcdef'", "apiKey: '[redacted]'"],
    ["AWS_SECRET_ACCESS_KEY=abcd/efgh+ijkl", "AWS_SECRET_ACCESS_KEY=[redacted]"],
    ["GH_TOKEN=abcdefgh1234 npm publish", "GH_TOKEN=[redacted] npm publish"],
    ["mysql --password=hunter2 -u me", "mysql --password=[redacted] -u me"],
    ["curl -H 'Authorization: Bearer abcdefgh12'", "curl -H 'Authorization: Bearer [redacted]'"],
    ["postgres://app:s3cret@db.local/app", "postgres://app:[redacted]@db.local/app"],
  ])("masks the value in: %s", (text, masked) => {
    expect(redact(text)).toBe(masked);
  });

  test.each([
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "login(user, password=password)",
    "password=ask_for_it()",
    "password = process.env.DB_PASSWORD",
    'const secret = "<your secret>"',
    "the sk-loading-spinner-container class",
    "risk-free-1-of-many-many-things",
    "Forgot your password? Reset the token.",
    "API_KEY=$KEY make",
    "see https://example.com:8080/a@b",
    "01JD8ZK3V0 and 4e1f-90ab-77cd",
  ])("leaves alone: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("masks a private key as a whole, also where its end is missing", () => {
    const body = `MIIEpAIBAAKCAQEA${A40}\n${A40}==`;
    const kind = "RSA PRIVATE KEY";
    expect(redact(`before\n-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\nafter`)).toBe("before\n[redacted]\nafter");
    expect(redact(`before\n-----BEGIN ${kind}-----\n${body} (cut)`)).toBe("before\n[redacted](cut)");
  });

  test("does not remove a tag between the edges of a key", () => {
    const text = "-----BEGIN PRIVATE KEY-----\nabc\n</summary>\n-----END PRIVATE KEY-----";
    expect(redact(text)).toContain("</summary>");
  });

  test("does nothing more the second time", () => {
    const places = [
      "password=hunter2",
      '"api_key": "abcdef"',
      "--token abcdefgh",
      "Bearer abc",
      "x",
      "\n",
      "password=ask()",
      "a://b:cdef@g",
    ];
    const bits = fc.constantFrom(...Object.values(secrets), ...places);
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 12 }), (some) => {
        const once = redact(some.join(" "));
        expect(redact(once)).toBe(once);
      }),
    );
  });

  test.each([
    ["sk-", 350_000],
    ["password=", 110_000],
    ["eyJhbGciOiJI.", 80_000],
    ["-----BEGIN PRIVATE KEY-----", 37_000],
    ["a", 1_000_000],
    ["Bearer ", 140_000],
    ["token: 'x ", 100_000],
    ["https://a:", 100_000],
  ])("reads 1 MB of %j without reading any of it again and again", (unit, times) => {
    // A pattern that reads on to the end from each start would need minutes, and the test would run out of time.
    const text = unit.repeat(times);
    expect(redact(text).length).toBeLessThanOrEqual(text.length + times * "[redacted]".length);
  });
});
