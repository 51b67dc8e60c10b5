import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCounter } from "@bough/compaction";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { median, timed } from "./measure.mjs";
import { Random } from "./random.mjs";

export const title = "tokens";

const MEGABYTE = 1_000_000;
const PACKAGES = join(dirname(fileURLToPath(import.meta.url)), "../../packages");
const COMMON =
  "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题";

/** The speed of a counter on the content of sessions, compared with js-tiktoken where that ends in time. */
export async function run({ report, rounds }) {
  const ours = await loadCounter("o200k_base");
  const theirs = new Tiktoken(o200k);
  const repeat = rounds(8);
  const code = sourceCode();
  const times = { code: [], theirs: [] };
  // Alternating, so that other load on the machine affects both.
  for (let round = 0; round < repeat; round++) {
    times.code.push(await timed(() => ours.count(code)));
    times.theirs.push(await timed(() => theirs.encode(code, [], []).length));
  }
  report.ratio("counting source code, beside js-tiktoken", "1 MB", median(times.code), median(times.theirs), 1 / 3);
  for (const [what, text] of Object.entries(texts())) await beside(report, ours, { what, text, code, repeat });
}

/** Compared with the time for code: any other text may take at most four times as long. */
async function beside(report, ours, { what, text, code, repeat }) {
  const own = [];
  const base = [];
  for (let round = 0; round < repeat; round++) {
    own.push(await timed(() => ours.count(text)));
    base.push(await timed(() => ours.count(code)));
  }
  report.ratio(`counting ${what}, beside code`, "1 MB", median(own), median(base), 4);
}

function sourceCode() {
  const folders = readdirSync(PACKAGES).map((name) => join(PACKAGES, name, "src"));
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)));
  const sources = files.filter((file) => file.endsWith(".ts")).map((file) => readFileSync(file, "utf8"));
  const code = sources.join("\n");
  return code.repeat(Math.ceil(MEGABYTE / code.length)).slice(0, MEGABYTE);
}

function texts() {
  const random = new Random(91);
  const numbers = Array.from({ length: 4_000 }, (_one, at) => ({
    id: at,
    path: `src/file-${random.whole(1, 900)}.ts`,
    ok: random.chance(0.5),
    ms: random.next(),
  }));
  const json = JSON.stringify(numbers);
  return {
    JSON: json.repeat(Math.ceil(MEGABYTE / json.length)).slice(0, MEGABYTE),
    // A character is three bytes of UTF-8.
    "Chinese sentences": chinese(random, () => random.whole(4, 24)),
    "Chinese without any break": chinese(random, () => MEGABYTE),
    base64: Buffer.from(Array.from({ length: (MEGABYTE * 3) / 4 }, () => random.whole(0, 255))).toString("base64"),
    "one letter": "x".repeat(MEGABYTE),
  };
}

function chinese(random, lengthOfSentence) {
  let text = "";
  for (let left = lengthOfSentence(); text.length < MEGABYTE / 3; left--) {
    text += left > 0 ? COMMON[random.whole(0, COMMON.length - 1)] : "，";
    if (left <= 0) left = lengthOfSentence() + 1;
  }
  return text;
}
