// Writes the tables of docs/errors.md from the classes that extend BoughError: their codes and the first paragraph of their docstrings. A test compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { LIBRARIES } from "./packages.mjs";
import { withPart } from "./page-part.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(root, "docs/errors.md");

/** The errors of a package: `{ name, code, text }`, in the order of the codes. */
function errorsOf(name) {
  const folder = join(root, "packages", name, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => errorsIn(readFileSync(join(folder, file), "utf8")))
    .sort((one, other) => (one.code < other.code ? -1 : 1));
}

function errorsIn(text) {
  if (!/class \w+ extends \w+Error /.test(text)) return [];
  const { statements } = ts.createSourceFile("errors.ts", text, ts.ScriptTarget.Latest, true);
  return statements.filter(ts.isClassDeclaration).flatMap((node) => {
    const code = node.members.find((member) => ts.isPropertyDeclaration(member) && member.name.getText() === "code");
    if (code === undefined) return [];
    const name = node.name.text;
    if (code.initializer !== undefined) return [{ name, code: code.initializer.text, text: paragraphOf(node) }];
    return declaredFailures(statements).map((failure) => ({ name, ...failure }));
  });
}

/** The members of the table `FAILURES`, for a class of several codes. */
function declaredFailures(statements) {
  const declared = statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
    .find((one) => one.name.getText() === "FAILURES");
  return (declared?.initializer.properties ?? []).map((member) => ({ code: member.name.getText(), text: paragraphOf(member) }));
}

/** The first paragraph of the docstring of a node, in one line of a table. */
function paragraphOf(node) {
  const [comment] = ts.getJSDocCommentsAndTags(node);
  const text = comment === undefined ? "" : ts.getTextOfJSDocComment(comment.comment);
  return (text ?? "").split("\n\n")[0].replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

/** The page with its tables as the source has them now. */
export function errorsPage() {
  const tables = LIBRARIES.flatMap((name) => {
    const rows = errorsOf(name).map(({ code, name: error, text }) => `| \`${code}\` | \`${error}\` | ${text} |`);
    return rows.length === 0 ? [] : [`### @bough/${name}\n\n| code | class | when |\n|---|---|---|\n${rows.join("\n")}`];
  });
  return withPart(readFileSync(page, "utf8"), "errors: written by node .ci/errors.mjs", tables.join("\n\n"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, errorsPage());
