import { counted } from "@bough/session-core/view";
import { wrapLine } from "../format/wrap.js";
import { editorView } from "../prompt/editor-view.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import { displayWidth, padEnd } from "../terminal/width.js";
import { type Frame, type FrameLine, plainLine } from "../tui/screen.js";
import type { AskedQuestion, ShellModel } from "./model.js";
import { statusLine } from "./status.js";

/** Visible lines of the streamed reply; it is printed in full when it is stored. */
const MAX_REPLY_ROWS = 8;
const MAX_OFFERS = 6;
const MAX_NOTICE_LINES = 4;
/** Most rows of the prompt, as a share of the screen. */
const MAX_PROMPT_SHARE = 0.5;

/** Draws the shell below the printed transcript. */
export function view(model: ShellModel): Frame {
  const { size, question, glyphs } = model;
  const above = [...replyLines(model), ...workLines(model), ...questionLines(model), ...queueLines(model)];
  const below = [...completionLines(model), ...noticeLines(model), plainLine(...statusLine(model.status, size.columns, glyphs))];
  const maxPromptRows = Math.max(Math.min(Math.floor(size.rows * MAX_PROMPT_SHARE), size.rows - 2), 1);
  const prompt = editorView(model.editor, Math.max(size.columns - 2, 1), maxPromptRows);
  const sign = question === null ? styled("user", `${glyphs.cursor} `) : styled("dim", `${glyphs.cursor} `);
  const promptLines = prompt.lines.map((line, at) => plainLine(at === 0 ? sign : "  ", ...line));
  const rule = plainLine(styled("dim", glyphs.rule.repeat(size.columns)));
  // On a low terminal the lines above the prompt are cut first.
  const left = Math.max(size.rows - promptLines.length - below.length, 0);
  const head = [...above, rule].slice(-left);
  const shown = left === 0 ? [] : head;
  const lines = [...shown, ...promptLines, ...below];
  const hidden = Math.max(lines.length - size.rows, 0);
  return {
    lines: lines.slice(hidden),
    cursor: { row: Math.max(shown.length + prompt.cursor.row - hidden, 0), column: prompt.cursor.column + 2 },
  };
}

function replyLines({ reply, question, size, glyphs, nowMs }: ShellModel): readonly FrameLine[] {
  if (reply === null) return [];
  const rows = Math.max(Math.min(MAX_REPLY_ROWS, size.rows - 6), 1);
  // Wrap only the end, so that the cost does not grow with the reply.
  const end = reply.text.slice(-rows * size.columns * 2);
  const lines = safeLines(end)
    .filter((line) => line !== "")
    .flatMap((line) => wrapLine([line], size.columns));
  const shown = lines.slice(-rows).map((line) => plainLine(...line));
  // A tool that waits for permission is not running.
  if (question !== null && !reply.isStopping)
    return [...shown, plainLine(...fitLine([styled("summary", "waiting for your answer")], size.columns, glyphs.ellipsis))];
  const activity = reply.isStopping ? "stopping" : reply.activity;
  return [...shown, progressLine(activity, reply.sinceMs, nowMs, size.columns, glyphs)];
}

function workLines({ work, size, glyphs, nowMs }: ShellModel): readonly FrameLine[] {
  if (work === null) return [];
  return [progressLine(work.isStopping ? "cancelling" : work.text, work.sinceMs, nowMs, size.columns, glyphs)];
}

function progressLine(text: string, sinceMs: number, nowMs: number, columns: number, glyphs: ShellModel["glyphs"]): FrameLine {
  const seconds = Math.max(Math.floor((nowMs - sinceMs) / 1000), 0);
  const spin = glyphs.spinner[seconds % glyphs.spinner.length] ?? "";
  return plainLine(...fitLine([styled("summary", `${spin} ${text}`), styled("dim", ` ${seconds} s  Esc stops`)], columns, glyphs.ellipsis));
}

/** Most lines of a call that its question shows on a screen of `rows`; a longer call is also printed in full. */
export function maxCallLines(rows: number): number {
  return Math.max(rows - 9, 1);
}

/** The answers of a question; dim until they are accepted. */
function answersLine({ name, phase, isOutside }: AskedQuestion, isTyping: boolean): Line {
  if (isTyping) return [styled("match", "Tab"), " answer  ", styled("match", "Esc"), " stop  (the prompt is kept)"];
  const always = isOutside ? [] : ([["a", name === "bash" ? "always, every command" : "always here"]] as const);
  const answers = [["y", "once"] as const, ...always, ["n", "no"] as const, ["Esc", "stop"] as const];
  return answers.flatMap(([key, means], at) => {
    const text = ` ${means}${at < answers.length - 1 ? "  " : ""}`;
    return phase === "shown" ? [styled("dim", `${key}${text}`)] : [styled("match", key), text];
  });
}

function questionLines({ question, editor, size, glyphs }: ShellModel): readonly FrameLine[] {
  if (question === null) return [];
  const maxLines = maxCallLines(size.rows);
  const rest = question.lines.length - maxLines;
  const lines: readonly Line[] = [
    [styled("bold", `May the model use ${question.name}?`)],
    ...question.lines.slice(0, maxLines),
    ...(rest > 0 ? [[styled("error", `${glyphs.ellipsis} ${counted(rest, "more line")}, printed above`)]] : []),
    answersLine(question, question.phase === "typing" || (question.phase === "shown" && editor.text !== "")),
  ];
  return lines.map((line) => plainLine(...fitLine(line, size.columns, glyphs.ellipsis)));
}

function queueLines({ queue, size, glyphs }: ShellModel): readonly FrameLine[] {
  return queue.map((text) => plainLine(...fitLine([styled("dim", `queued: ${text.replace(/\s+/g, " ")}`)], size.columns, glyphs.ellipsis)));
}

function completionLines({ completions, chosen, size, glyphs }: ShellModel): readonly FrameLine[] {
  const from = Math.max(0, Math.min(chosen - MAX_OFFERS + 1, completions.length - MAX_OFFERS));
  const widest = Math.max(0, ...completions.map(({ display }) => displayWidth(display)));
  const lines = completions.slice(from, from + MAX_OFFERS).map(({ display, help }, at): FrameLine => {
    const isChosen = from + at === chosen;
    const sign = isChosen ? styled("leaf", `${glyphs.cursor} `) : "  ";
    const name = padEnd(display, widest);
    return plainLine(...fitLine([sign, isChosen ? styled("bold", name) : name, styled("dim", `  ${help}`)], size.columns, glyphs.ellipsis));
  });
  if (completions.length <= MAX_OFFERS) return lines;
  const more = [...(from > 0 ? [glyphs.up] : []), ...(from + MAX_OFFERS < completions.length ? [glyphs.down] : [])].join(" ");
  return [...lines, plainLine(styled("dim", `  ${MAX_OFFERS} of ${completions.length}, ${more} more`))];
}

function noticeLines({ notice, size }: ShellModel): readonly FrameLine[] {
  if (notice === null) return [];
  const lines = wrapLine([notice.isError ? styled("error", notice.text) : styled("dim", notice.text)], size.columns);
  return lines.slice(0, MAX_NOTICE_LINES).map((line) => plainLine(...line));
}
