// Writes docs/commands.md, docs/exit-codes.md, docs/config.md and docs/navigator.md from the definitions in the code. Tests compare them.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadDefinitions } from "./definitions.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { renderCommandsPage, renderConfigPage, renderExitCodesPage, renderNavigatorPage } = await loadDefinitions("pages", "navigator-page");
writeFileSync(join(root, "docs/config.md"), renderConfigPage());
writeFileSync(join(root, "docs/navigator.md"), renderNavigatorPage());
writeFileSync(join(root, "docs/commands.md"), renderCommandsPage());
writeFileSync(join(root, "docs/exit-codes.md"), renderExitCodesPage());
