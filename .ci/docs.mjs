// Writes the parts of docs/commands.md, docs/exit-codes.md, docs/config.md and docs/navigator.md that come from definitions in the code. Tests compare them.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadDefinitions } from "./definitions.mjs";

const docs = join(dirname(fileURLToPath(import.meta.url)), "../docs");
const { PAGE_NAMES, renderPage } = await loadDefinitions("docs-pages");
for (const name of PAGE_NAMES) writeFileSync(join(docs, name), renderPage(name, readFileSync(join(docs, name), "utf8")));
