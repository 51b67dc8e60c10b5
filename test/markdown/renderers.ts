// A Markdown export in a renderer that lets HTML through, as those of CommonMark and GFM do by default.
import { exportMarkdown } from "@bough/formats";
import { type EntryInput, openStore, toolResult, userMessage } from "@bough/session-core";
import { marked } from "marked";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";

export const RENDERERS: Readonly<Record<string, (markdown: string) => string>> = {
  marked: (markdown) => marked.parse(markdown, { async: false }),
  "micromark with GFM": (markdown) =>
    micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true, allowDangerousProtocol: true }),
  "micromark, CommonMark": (markdown) => micromark(markdown, { allowDangerousHtml: true, allowDangerousProtocol: true }),
};

// Pieces of which hostile Markdown is made: fences, HTML of every kind, links and images, structure, entities, line ends.
export const BLOCKS: readonly string[] = [
  ...["```", "````", "~~~", "~~~~~~", "`", "``", "<script>X</script>", "<img src=x onerror=X>", "<!-- X", "-->", "<details>", "</details>"],
  ...["<summary>", "</summary>", "<?php X", "<![CDATA[X]]>", "<!DOCTYPE X>", "[X](javascript:X)", "![X](http://e/X)", "[X]: javascript:X"],
  ...["[X]: <javascript:X> 'X'", "[X][X]", "<javascript:X>", "<http://e/X>", "http://e/X", "[X](data:text/html,X)", "[X](JaVaScRiPt:X)"],
  ...["[X](java\nscript:X)", "[X](&#106;avascript:X)", "[X](\\javascript:X)", "# X", "## User", "## Assistant", "---", "===", "> X", "- X"],
  ...[
    "1. X",
    "    X",
    "\t",
    "| a | b |\n|--|--|\n| X | X |",
    "\\",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "\n",
    "\n\n",
    "  \n",
    "\r",
    "\r\n",
  ],
  ...["\u2028", "\u0085", "*", "**", "_", "~~", "$$", "[^1]", "[^1]: X", "<a href=javascript:X>X</a>", "<svg/onload=X>", "<iframe src=X>"],
  ...["<style>X</style>", "</code></pre><script>X</script>", "<X", "X>", "&", "\u0000", "<textarea>", "<plaintext>", "<base href=X>"],
  ...["<math><X>", "<?X", "<!X", "<b", "\n<div>\n", "\n<script\n>X", "[", "]", "(", ")", "!", ":", "text", "www.e.X", "a@b.X", "mailto:X"],
  ...["www.example.com<img src=x onerror=alert(1)>", "https://e.example/a[X](javascript:X)", "a@e.example<img src=x>", "![X][X]"],
  ...[
    "\\![X](http://e/X)",
    "www.e.example\\&#x202e;",
    "&#x202e;",
    "&#8203;",
    "&shy;",
    "&zwnj;",
    "&ZeroWidthSpace;",
    "&lrm;",
    "\u200b",
    "\u202e",
  ],
  ...["\u2066", "\u{e0041}\u{e0042}", "\u2060", "\ufeff", "\u00ad", "\u001b[31m", "\u001b]8;;http://e\u0007"],
];

export type Place = (hostile: string) => readonly EntryInput[];

const reply = (fields: object, ...content: readonly object[]): EntryInput =>
  ({ type: "message", message: { role: "assistant", content, model: "m", ...fields } }) as EntryInput;
const call = (name: string, args: object) => ({ type: "toolCall", id: "c", name, arguments: args });

/** The places of a session's text in a document. */
export const PLACES: Readonly<Record<string, Place>> = {
  user: (x) => [userMessage(x)],
  assistant: (x) => [reply({}, { type: "text", text: x })],
  thinking: (x) => [reply({}, { type: "thinking", thinking: x })],
  model: (x) => [reply({ model: x }, { type: "text", text: "ok" })],
  "model change": (x) => [{ type: "model_change", modelId: x, provider: x }],
  "thinking level": (x) => [{ type: "thinking_level_change", thinkingLevel: x }],
  "error of a reply": (x) => [reply({ stopReason: "error", errorMessage: x })],
  "name of a tool": (x) => [reply({}, call(x, { path: "a" }))],
  "arguments of a tool": (x) => [reply({}, call("other", { [x.slice(0, 20)]: x, list: [x] }))],
  "path of a tool": (x) => [reply({}, call("read", { path: x }))],
  "edit of a tool": (x) => [reply({}, call("edit", { path: "a", oldText: x, newText: `${x}!` }))],
  "text that a tool writes": (x) => [reply({}, call("write", { path: x, content: x }))],
  "result of a tool": (x) => [reply({}, call("read", { path: "a" })), toolResult("c", x, { toolName: "read", isError: true })],
  "command of a person": (x) => [{ type: "message", message: { role: "bashExecution", command: x, output: x, exitCode: 1 } }],
  "message of a host": (x) => [{ type: "custom_message", customType: x, content: x, display: true }],
  summary: (x) => [userMessage("u"), { type: "compaction", summary: x, title: x, firstKeptEntryId: null }],
  "summary of a branch": (x) => [{ type: "branch_summary", summary: x, fromId: null }],
  "foreign block": (x) => [reply({}, { type: "foreign", originalType: x, raw: x })],
};

/** A document of one session that says `hostile` in these places, in its title, folder and label; its end is marked. */
export async function documentOf(hostile: string, places: readonly Place[]): Promise<string> {
  const store = await openStore({ path: ":memory:", durability: "normal" });
  try {
    const session = await store.createSession({ title: hostile, cwd: hostile });
    const first = await session.append(userMessage("start"));
    await session.labels.set(first.id, hostile);
    for (const place of places) for (const entry of place(hostile)) await session.append(entry);
    await session.append(userMessage("END-OF-SESSION"));
    let document = "";
    for await (const piece of exportMarkdown(session, { thinking: true, toolOutput: "full" })) document += piece;
    return document;
  } finally {
    await store.close();
  }
}

const TAGS =
  /^(details|summary|code|pre|p|h[1-6]|em|strong|ul|ol|li|blockquote|hr|br|table|thead|tbody|tr|th|td|a|del|s|sup|section|input|#text|#document-fragment)$/;
const ATTRIBUTES = /^(href|title|class|start|align|id|type|disabled|checked|dir|data-footnote[a-z-]*|aria-[a-z]+)$/;
const DESTINATION = /^(https?:\/\/|mailto:|#|\/|\.{0,2}\/|[^:]*$)/i;
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;

/** The parts of this HTML that are more than text, structure and links to pages. */
function live(html: string): readonly string[] {
  const nodes: DefaultTreeAdapterTypes.Node[] = [parseFragment(html)];
  const found: string[] = [];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    found.push(...liveIn(node));
    if ("childNodes" in node) nodes.push(...node.childNodes);
  }
  return found;
}

function liveIn(node: DefaultTreeAdapterTypes.Node): readonly string[] {
  const attributes = "attrs" in node ? node.attrs : [];
  const wrong = attributes.filter(({ name, value }) => {
    if (name === "href") return !DESTINATION.test(value);
    return !ATTRIBUTES.test(name) || (name === "type" && value !== "checkbox");
  });
  return [
    ...(TAGS.test(node.nodeName) ? [] : [`<${node.nodeName}>`]),
    ...("value" in node && UNSEEN.test(node.value) ? [`unseen in ${JSON.stringify(node.value.slice(0, 80))}`] : []),
    ...wrong.map(({ name, value }) => `${node.nodeName} ${name}=${value}`),
  ];
}

/** Everything that is wrong with a document in any renderer. */
export function wrongWith(document: string): readonly string[] {
  const wrong = UNSEEN.test(document.replaceAll(/[\t\n]/g, "")) ? ["the document itself holds characters that nobody sees"] : [];
  for (const [name, render] of Object.entries(RENDERERS)) {
    const html = render(document);
    wrong.push(...live(html).map((what) => `${name}: ${what}`));
    if (!/<p>END-OF-SESSION<\/p>/.test(html)) wrong.push(`${name}: the end is not where it was`);
  }
  return wrong;
}
