import { pageAssets } from "./assets.js";
import { type Html, html, joinHtml, renderedHtml } from "./html.js";
import { contentPolicy } from "./policy.js";

/** The policy of all pages: that of the page's own scripts and style. */
export function pagePolicy(where: "meta" | "header"): string {
  const { style, script, scripts } = pageAssets();
  return contentPolicy([script, ...scripts], [style], where);
}

function headHtml(title: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy("meta")}">
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
