import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The page's own style and scripts, as the build made them of `client/`. */
export interface PageAssets {
  readonly style: string;
  readonly script: string;
  /** Scripts that highlight a language each. */
  readonly scripts: readonly string[];
  /** By name and alias of a language: the numbers of the scripts that it needs. */
  readonly languages: Readonly<Record<string, readonly number[]>>;
}

// The path is the same relative to this file and to `dist/chunks`, which contains the bundled code.
const FILE = fileURLToPath(new URL("../../dist/page.json", import.meta.url));

let assets: PageAssets | undefined;

/** Reads the assets at the first call. */
export function pageAssets(): PageAssets {
  assets ??= parseAssets(JSON.parse(readFileSync(FILE, "utf8")));
  return assets;
}

function parseAssets(value: unknown): PageAssets {
  if (!isAssets(value)) throw new TypeError(`${FILE} is not what the build writes.`);
  return value;
}

function isAssets(value: unknown): value is PageAssets {
  return typeof value === "object" && value !== null && "style" in value && "script" in value && "scripts" in value && "languages" in value;
}
