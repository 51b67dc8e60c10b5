import { Random } from "./random.mjs";

const COMMON = (
  "the to a of and in is it for that we this with on file be not as test are from if error by line can code function so but " +
  "return value then an read run when const path should has type session now string there which all parser at will do first"
).split(" ");
const STARTS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh st t tr v w".split(" ");
const VOWELS = "a e i o u ai ea ou".split(" ");
const ENDS = ["", "n", "r", "s", "t", "l", "m", "ck", "nd", "st", "x"];
const VOCABULARY = 8000;

const random = new Random(20260101);
const words = vocabulary();

function vocabulary() {
  const known = new Set(COMMON);
  while (known.size < VOCABULARY) {
    let made = "";
    for (let syllable = random.whole(2, 3); syllable > 0; syllable--) made += random.pick(STARTS) + random.pick(VOWELS) + random.pick(ENDS);
    known.add(made);
  }
  return [...known];
}

/** Each word with the frequency of its rank (Zipf: the n-th most common one comes 1/n times as often as the first). */
function word() {
  return words[Math.floor(VOCABULARY ** random.next()) - 1];
}

function sentence() {
  const text = Array.from({ length: random.whole(5, 18) }, word).join(" ");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function name() {
  const second = word();
  return random.chance(0.5) ? word() : `${word()}${second[0].toUpperCase()}${second.slice(1)}`;
}

const CODE = [
  () => `  const ${name()} = ${name()}(${name()}, "${word()}");`,
  () => `export function ${name()}(${name()}: ${name()}): ${name()} {`,
  () => `    if (${name()} === undefined) return ${name()}.${name()}(${random.whole(0, 999)});`,
  () => `import { ${name()}, ${name()} } from "./${word()}/${word()}.js";`,
  () => `      // ${sentence()}`,
  () => `src/${word()}/${word()}.ts:${random.whole(1, 400)}:  ${name()}.${name()}(${name()});`,
  () => `-rw-r--r-- 1 dev dev ${random.whole(100, 99999)} Nov 21 01:30 ${word()}-${word()}.json`,
  () => "  }",
];

function codeLine() {
  return random.pick(CODE)();
}

// Texts are cut from these pools, because drawing each word of a gigabyte would take longer than what is measured.
const sentences = Array.from({ length: 4000 }, sentence);
const codeLines = Array.from({ length: 8000 }, codeLine);

/** Sentences of about `size` characters in all. */
export function prose(source, size) {
  return cutFrom(sentences, source, size, " ");
}

/** Lines as of code, a listing or a search, of about `size` characters in all. */
export function code(source, size) {
  return cutFrom(codeLines, source, size, "\n");
}

// Joined, not added up: a text that was added up is put together by whoever reads it first, who would be measured with it.
function cutFrom(pool, source, size, separator) {
  const parts = [];
  let at = source.whole(0, pool.length - 1);
  for (let length = 0; length < size; at = (at + 1) % pool.length) {
    parts.push(pool[at]);
    length += pool[at].length + separator.length;
  }
  return parts.join(separator);
}

const paths = Array.from({ length: 600 }, () => `/home/dev/project/src/${word()}/${word()}-${word()}.ts`);

/** A file of the project; some are worked on far more often than others. */
export function path(source) {
  return paths[Math.floor(paths.length ** source.next()) - 1];
}

/** Words to search for, from nearly everywhere to hardly anywhere. */
export const QUERIES = {
  usual: [
    words[400],
    words[1500],
    words[4000],
    `${words[60]} ${words[90]}`,
    `"${sentences[100].split(" ").slice(2, 4).join(" ")}"`,
    `${words[700].slice(0, 5)}*`,
  ],
  mostCommon: "the",
};
