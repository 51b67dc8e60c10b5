// Runs in the folder of a package before it is packed or published. Rejects a package that is not built, and any client but
// pnpm, because only pnpm replaces `workspace:` ranges.
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));

function refuse(why) {
  process.stderr.write(`${manifest.name} cannot be packed: ${why}\n`);
  process.exit(1);
}

const entries =
  manifest.bin === undefined
    ? Object.values(manifest.exports).flatMap((target) => (typeof target === "string" ? target : Object.values(target)))
    : Object.values(manifest.bin);
for (const file of [...entries, ...manifest.files, ...(manifest.man ?? [])])
  if (!existsSync(file)) refuse(`${file} is missing. Build first: npm run setup (in the root of the repository).`);

const ranges = Object.values({ ...manifest.dependencies, ...manifest.peerDependencies });
const isPnpm = basename(process.env.npm_execpath ?? "").startsWith("pnpm");
if (!isPnpm && ranges.some((range) => range.startsWith("workspace:")))
  refuse("its workspace: ranges would stay as they are. Use npm run release, or pnpm pack.");
