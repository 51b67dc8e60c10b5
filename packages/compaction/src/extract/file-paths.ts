import type { ToolCallBlock } from "@bough/session-core";
import { callTouches, toolKind } from "@bough/session-core/internals";

/** A file that a tool call names. */
interface TouchedFile {
  readonly path: string;
  readonly changed: boolean;
}

/** The files that a call reads or changes, including those in a patch. */
export function touchedFiles(call: ToolCallBlock): readonly TouchedFile[] {
  return callTouches(call, {}, toolKind).flatMap(({ kind, path }) => {
    const name = fileName(path);
    return name === null ? [] : [{ path: name, changed: kind !== "read" }];
  });
}

// Temporary, generated or downloaded files.
const NOISE =
  /(?:^|\/)(?:node_modules|\.git|__pycache__|\.venv|site-packages)\/|^(?:\/private)?\/(?:tmp|var\/folders|dev|proc)\/|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|go\.sum|composer\.lock|\.DS_Store)$/;

/** Normalizes a path: no `./`, no `file://`, no line number. null: not a file, or an irrelevant one. */
function fileName(given: string): string | null {
  const path = given
    .trim()
    .replace(/^file:\/\//, "")
    .replace(/^(?:\.\/)+/, "")
    .replace(/:\d+(?:[-:]\d+)?$/, "");
  const isPath = path !== "" && path.length <= 300 && !/[\n\u0000]|^[a-z][a-z+.-]+:\/\//i.test(path) && !path.endsWith("/");
  return isPath && path !== "." && path !== ".." && !NOISE.test(path) ? path : null;
}

/** A possible path: text between spaces, quotes or brackets. */
const TOKEN = /[^\s"'`()[\]{}<>,;|*=?!]{3,300}/g;
const IN_FOLDER = /^(?:~|\.{1,2}|@?[\w.+-]+)?(?:\/@?[\w.+[\]-]+)+\.[A-Za-z][A-Za-z0-9]{0,9}$/;
/** A name without folder is a file if it has one of these extensions; `theme.fg` and `v1.2` are not files. */
const ALONE =
  /^[\w.+-]*\w\.(?:[cm]?[jt]sx?|d\.ts|jsonl?|jsonc|md|mdx|py|rs|go|java|kts?|rb|php|cs|cpp|cc|hpp|c|h|swift|scala|ex|exs|sql|sh|bash|zsh|ps1|ya?ml|toml|ini|cfg|conf|env|lock|txt|csv|tsv|html?|s?css|less|vue|svelte|xml|proto|graphql|tf|ipynb|log|db|sqlite|svg)$/i;

/** Names of products that look like files. */
const PRODUCT = /^(?:node|next|nuxt|vue|three|express|chart|socket\.io|d3|ember|backbone|moment|alpine|solid)\.js$/i;

/** The files that a text names, in order, without web addresses. Linear. */
export function filesIn(prose: string): readonly string[] {
  return [...prose.matchAll(TOKEN)].flatMap(([token]) => {
    if (token.includes("://")) return [];
    const bare = token.replace(/[.:]+$/, "").replace(/(?::\d+){1,2}$/, "");
    const named = IN_FOLDER.test(bare) || (ALONE.test(bare) && !PRODUCT.test(bare));
    return named ? (fileName(bare) ?? []) : [];
  });
}
