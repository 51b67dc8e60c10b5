// Checks the limit of CONTRIBUTING.md that no linter checks: at most 20 casts (`as`, without `as const`) in all of src, each
// with its reason in a comment on its line or above its statement.
//
//   node .ci/structure.mjs           fails if the limit is exceeded or a reason is missing
//   node .ci/structure.mjs --list    also prints each cast
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const MOST_CASTS = 20;

function sources() {
  return readdirSync(join(root, "packages")).flatMap((name) => {
    const folder = join(root, "packages", name, "src");
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file));
  });
}

/** The casts of a file: line and text of each, and whether a comment gives its reason. */
function castsOf(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isAsExpression(node) && node.type.getText(source) !== "const") {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      found.push({ line: line + 1, text: node.getText(source).split("\n")[0], explained: isExplained(node, source) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isExplained(node, source) {
  const lines = source.text.split("\n");
  const castLine = source.getLineAndCharacterOfPosition(node.getEnd()).line;
  if (/\/\/ \S/.test(lines[castLine])) return true;
  for (let at = node; at !== undefined; at = at.parent) {
    if (ts.isSourceFile(at)) return false;
    const comments = ts.getLeadingCommentRanges(source.text, at.getFullStart()) ?? [];
    if (comments.length > 0) return true;
    // A statement inside a function needs its own comment; for a body of one statement the docstring of the function suffices.
    if (ts.isStatement(at) && !(ts.isBlock(at) || ts.isReturnStatement(at) || ts.isExpressionStatement(at))) return false;
  }
  return false;
}

const problems = [];
let casts = 0;
let files = 0;
for (const file of sources()) {
  const name = relative(root, file);
  const text = readFileSync(file, "utf8");
  files += 1;
  for (const cast of castsOf(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))) {
    casts += 1;
    if (process.argv.includes("--list")) process.stdout.write(`${name}:${cast.line}  ${cast.text}\n`);
    if (!cast.explained) problems.push(`${name}:${cast.line} has a cast without a reason: ${cast.text}`);
  }
}
if (casts > MOST_CASTS) problems.push(`${casts} casts; at most ${MOST_CASTS} are allowed`);
process.stdout.write(`${files} source files, ${casts} casts\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
