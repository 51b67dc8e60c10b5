import { createHash } from "node:crypto";

/**
 * The content security policy of a page: it loads nothing, runs only the given scripts, has only the given styles, and no text can
 * become a script (trusted types). `header`: with what counts only in a header.
 */
export function contentPolicy(scripts: readonly string[], styles: readonly string[], where: "meta" | "header"): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(hashSource).join(" ")}`,
    `style-src ${styles.map(hashSource).join(" ")}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    ...(where === "header" ? ["frame-ancestors 'none'"] : []),
  ].join("; ");
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
