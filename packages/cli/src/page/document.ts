import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Html, html, joinHtml, NOTHING, renderedHtml } from "./html.js";

/** The policy of a page in a file: that of the page's own scripts and style. */
function pagePolicy(): string {
  const { style, script, scripts } = pageAssets();
  return contentPolicy([script, ...scripts], [style], []);
}

/** The policy of the pages of a server: they also ask it for more, and the list of sessions is searched by a form. */
export function servedPolicy(where: "meta" | "header"): string {
  const { style, served, list, scripts } = pageAssets();
  const more = ["connect-src 'self'", "form-action 'self'", ...(where === "header" ? ["frame-ancestors 'none'"] : [])];
  return contentPolicy([served, list, ...scripts], [style], more);
}

/** The policy of an encrypted page: its script may replace the document, and the scripts of the page that comes then run under it. */
function lockedPolicy(): string {
  const { style, script, scripts, locked } = pageAssets();
  return contentPolicy([locked, script, ...scripts], [style], [], LOCKED_TYPES);
}

/** The Trusted Types policy of client/locked.ts. */
const LOCKED_TYPES = "bough-locked";

function headHtml(title: string, policy: string = pagePolicy(), more: Html = NOTHING): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Bough">
<title>${title}</title>${more}
<style>${renderedHtml(pageAssets().style)}</style>
</head>
`;
}

/** A browser would ask the server for an icon. */
const NO_ICON = html`<link rel="icon" href="data:,">`;

/** A document of a server without tree. `script`: the list of sessions has one. */
export function bareDocument(title: string, content: Html, script: "list" | "none" = "none"): Html {
  const scripts = script === "none" ? NOTHING : html`<script>${renderedHtml(pageAssets().list)}</script>\n`;
  return html`${headHtml(title, servedPolicy("meta"), NO_ICON)}<body class="bare"><main>${content}</main>${scripts}</body>
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

/** The form of a page. `data`: attributes of the body of a served one, for its script. */
export type PageForm = { readonly kind: "file" } | { readonly kind: "served"; readonly data: Readonly<Record<string, string>> };

/** The document up to its first entry. `facts`: what there is to know about the session. */
export function documentStart(title: string, facts: Html, form: PageForm = { kind: "file" }): Html {
  const isServed = form.kind === "served";
  const data = isServed ? joinHtml(Object.entries(form.data).map(([name, value]) => html` data-${name}="${value}"`)) : NOTHING;
  const home =
    isServed && form.data["home"] !== undefined
      ? html`<a id="home" href="${form.data["home"]}" title="All sessions">Sessions</a>\n`
      : NOTHING;
  return html`${isServed ? headHtml(title, servedPolicy("meta"), NO_ICON) : headHtml(title)}<body${data}>
<a class="skip" href="#conversation">Skip to the conversation</a>
<a class="skip" href="#tree">Skip to the tree</a>
<header id="bar">
${home}<button type="button" id="tree-button" aria-controls="tree" aria-expanded="false" hidden>Tree</button>
<p id="name">${title}</p>
<div id="search" role="search" hidden><input type="search" id="words" aria-label="Search this session" placeholder="Search ( / )" autocomplete="off" spellcheck="false"><output id="found" aria-live="polite"></output><button type="button" id="previous" aria-label="Previous match" title="Previous match (p)">↑</button><button type="button" id="next" aria-label="Next match" title="Next match (n)">↓</button></div>
<button type="button" id="theme" title="Light, dark or as the system (m)" hidden>Theme</button>
<button type="button" id="palette-button" aria-haspopup="dialog" title="All actions (Ctrl+K or :)" hidden>Actions</button>
</header>
<main id="conversation" tabindex="-1">
<header id="intro"><h1>${title}</h1>${facts}</header>
`;
}

/** The end of the document, with the scripts. `used`: the languages of code in it; of a served page all, because more entries come. */
export function documentEnd(used: ReadonlySet<string> | "all"): Html {
  const { script, served, scripts, languages } = pageAssets();
  const names = used === "all" ? Object.keys(languages) : [...used];
  const needed = new Set(names.flatMap((name) => (Object.hasOwn(languages, name) ? (languages[name] ?? []) : [])));
  const texts = [...[...needed].map((at) => scripts[at] ?? ""), used === "all" ? served : script];
  return html`
${joinHtml(texts.map((text) => html`<script>${renderedHtml(text)}</script>\n`))}</body>
</html>
`;
}

/**
 * The content security policy of a page: it loads nothing, runs only the given scripts, has only the given styles, and no text can
 * become a script (trusted types). `more`: directives of served pages. `types`: the Trusted Types policy that is allowed.
 */
function contentPolicy(scripts: readonly string[], styles: readonly string[], more: readonly string[], types = "'none'"): string {
  const names = new Set(more.map((directive) => directive.split(" ")[0]));
  return [
    "default-src 'none'",
    `script-src ${scripts.map(hashSource).join(" ")}`,
    `style-src ${styles.map(hashSource).join(" ")}`,
    "img-src data:",
    "base-uri 'none'",
    ...(names.has("form-action") ? [] : ["form-action 'none'"]),
    "require-trusted-types-for 'script'",
    `trusted-types ${types}`,
    ...more,
  ].join("; ");
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** The page's own style and scripts, as the build made them of `client/`. */
interface PageAssets {
  readonly style: string;
  /** The script of a page in a file. */
  readonly script: string;
  /** The script of a session of a server. */
  readonly served: string;
  /** The script of a server's list of sessions. */
  readonly list: string;
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
  assets ??= readAssets();
  return assets;
}

function readAssets(): PageAssets {
  return JSON.parse(readFileSync(FILE, "utf8"));
}
