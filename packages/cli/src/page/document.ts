import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Html, html, joinHtml, renderedHtml } from "./html.js";

/** The policy of all pages: that of the page's own scripts and style. */
export function pagePolicy(where: "meta" | "header"): string {
  const { style, script, scripts } = pageAssets();
  return contentPolicy([script, ...scripts], [style], where);
}

/** The policy of an encrypted page: its script may replace the document, and the scripts of the page that comes then run under it. */
function lockedPolicy(): string {
  const { style, script, scripts, locked } = pageAssets();
  return contentPolicy([locked, script, ...scripts], [style], "meta", LOCKED_TYPES);
}

/** The Trusted Types policy of client/locked.ts. */
const LOCKED_TYPES = "bough-locked";

function headHtml(title: string, policy: string = pagePolicy("meta")): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Bough">
<title>${title}</title>
<style>${renderedHtml(pageAssets().style)}</style>
</head>
`;
}

/** A document without tree and scripts. */
export function bareDocument(title: string, content: Html): Html {
  return html`${headHtml(title)}<body class="bare"><main>${content}</main></body>
</html>
`;
}

/** The document of an encrypted page up to its data, which is base64. */
export function lockedStart(lock: { readonly salt: string; readonly iv: string; readonly rounds: number }): Html {
  return html`${headHtml("An encrypted page", lockedPolicy())}<body class="bare"><main><h1>An encrypted page</h1>
<p>It shows a session of an agent to whoever has its password.</p>
<form id="unlock"><label>Password <input type="password" id="password" required autofocus autocomplete="off"></label> <button>Open</button><p id="state" role="status"></p></form>
<noscript><p>It needs JavaScript, which decrypts it.</p></noscript></main>
<script type="application/octet-stream" id="data" data-salt="${lock.salt}" data-iv="${lock.iv}" data-rounds="${lock.rounds}">`;
}

/** The end of the document of an encrypted page. */
export function lockedEnd(): Html {
  return html`</script>
<script>${renderedHtml(pageAssets().locked)}</script>
</body>
</html>
`;
}

/** The document up to its first entry. `facts`: one line about the session. */
export function documentStart(title: string, facts: Html): Html {
  return html`${headHtml(title)}<body>
<a class="skip" href="#conversation">Skip to the conversation</a>
<a class="skip" href="#tree">Skip to the tree</a>
<header id="bar">
<button type="button" id="tree-button" aria-controls="tree" aria-expanded="false" hidden>Tree</button>
<p id="name">${title}</p>
<div id="search" role="search" hidden><input type="search" id="words" aria-label="Search this session" placeholder="Search ( / )" autocomplete="off" spellcheck="false"><output id="found" aria-live="polite"></output><button type="button" id="previous" aria-label="Previous match" title="Previous match (p)">↑</button><button type="button" id="next" aria-label="Next match" title="Next match (n)">↓</button></div>
<button type="button" id="theme" title="Light, dark or as the system (m)" hidden>Theme</button>
<button type="button" id="help-button" aria-haspopup="dialog" title="Help (?)" hidden>?</button>
</header>
<main id="conversation" tabindex="-1">
<header id="intro"><h1>${title}</h1><p>${facts}</p></header>
`;
}

/** The end of the document, with the scripts. `used`: the languages of code in it. */
export function documentEnd(used: ReadonlySet<string>): Html {
  const { script, scripts, languages } = pageAssets();
  const needed = new Set([...used].flatMap((name) => (Object.hasOwn(languages, name) ? (languages[name] ?? []) : [])));
  const elements = [...[...needed].map((at) => scripts[at] ?? ""), script].map((text) => html`<script>${renderedHtml(text)}</script>\n`);
  return html`
<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keys</h2><dl id="keys"></dl><p><label><input type="checkbox" id="letters" checked> Keys without Ctrl or Alt</label></p><p><button type="button" id="help-close">Close</button></p></dialog>
${joinHtml(elements)}</body>
</html>
`;
}

/**
 * The content security policy of a page: it loads nothing, runs only the given scripts, has only the given styles, and no text can
 * become a script (trusted types). `header`: with what counts only in a header. `types`: the Trusted Types policy that is allowed.
 */
function contentPolicy(scripts: readonly string[], styles: readonly string[], where: "meta" | "header", types = "'none'"): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(hashSource).join(" ")}`,
    `style-src ${styles.map(hashSource).join(" ")}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${types}`,
    ...(where === "header" ? ["frame-ancestors 'none'"] : []),
  ].join("; ");
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** The page's own style and scripts, as the build made them of `client/`. */
interface PageAssets {
  readonly style: string;
  readonly script: string;
  /** The script of an encrypted page. */
  readonly locked: string;
  /** Scripts that highlight a language each. */
  readonly scripts: readonly string[];
  /** By name and alias of a language: the numbers of the scripts that it needs. */
  readonly languages: Readonly<Record<string, readonly number[]>>;
}

// The path is the same relative to this file and to `dist/chunks`, which contains the bundled code.
const FILE = fileURLToPath(new URL("../../dist/page.json", import.meta.url));

let assets: PageAssets | undefined;

/** Reads the assets at the first call. */
function pageAssets(): PageAssets {
  assets ??= parseAssets(JSON.parse(readFileSync(FILE, "utf8")));
  return assets;
}

function parseAssets(value: unknown): PageAssets {
  if (!isAssets(value)) throw new TypeError(`${FILE} is not what the build writes.`);
  return value;
}

function isAssets(value: unknown): value is PageAssets {
  return (
    typeof value === "object" &&
    value !== null &&
    "style" in value &&
    "script" in value &&
    "locked" in value &&
    "scripts" in value &&
    "languages" in value
  );
}
