// Draws a screen, as `tmux capture-pane -e` prints it, as an SVG: text stays text, and each run of one style has its own place, so that
// columns stay in line whatever font the viewer has.

const CELL = { width: 8.4, height: 18 };
const PADDING = 14;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Colors by SGR number; `text` and `paper` are the defaults. Contrast with the paper is 4.5 : 1 or more. */
const THEMES = {
  light: {
    paper: "#ffffff",
    border: "#d0d7de",
    text: "#1f2328",
    dim: "#656d76",
    31: "#cf222e",
    32: "#116329",
    33: "#7d4e00",
    34: "#0550ae",
    35: "#8250df",
    36: "#0b6b7a",
    90: "#656d76",
    selected: "#ddf4ff",
  },
  dark: {
    paper: "#0d1117",
    border: "#30363d",
    text: "#e6edf3",
    dim: "#8b949e",
    31: "#ff7b72",
    32: "#7ee787",
    33: "#e3b341",
    34: "#79c0ff",
    35: "#d2a8ff",
    36: "#76e3ea",
    90: "#8b949e",
    selected: "#1f3a5f",
  },
};

/** @param {string} screen lines with escape sequences; @param {"light" | "dark"} theme */
export function drawScreen(screen, theme, { columns, title }) {
  const colors = THEMES[theme];
  const rows = screen.replace(/\n+$/, "").split("\n");
  const [width, height] = [columns * CELL.width + 2 * PADDING, rows.length * CELL.height + 2 * PADDING];
  const drawn = rows.flatMap((row, at) => drawRow(row, PADDING + at * CELL.height, colors));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colors.paper}" stroke="${colors.border}"/>
<g font-family="${FONT}" font-size="14">
${drawn.join("\n")}
</g>
</svg>
`;
}

function drawRow(row, top, colors) {
  let column = 0;
  return runsOf(row).flatMap(({ text, style }) => {
    const [x, cells] = [PADDING + column * CELL.width, [...text].length];
    column += cells;
    const paper = style.inverse || style.background ? [rect(x, top, cells, colors.selected)] : [];
    return [...paper, ...wordGroups(text).map((group) => textRun(group, x, top, style, colors))];
  });
}

function rect(x, top, cells, color) {
  return `<rect x="${round(x)}" y="${top}" width="${round(cells * CELL.width)}" height="${CELL.height}" fill="${color}"/>`;
}

/** The parts of a run without blanks at their ends, which viewers leave out, and the cells before each. */
function wordGroups(text) {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: words, index }) => ({ words, before: [...text.slice(0, index)].length }));
}

function textRun({ words, before }, start, top, { bold, dim, color }, colors) {
  const [x, cells] = [start + before * CELL.width, [...words].length];
  const fill = colors[color] ?? (dim ? colors.dim : colors.text);
  const weight = bold ? ' font-weight="600"' : "";
  const length = ` textLength="${round(cells * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${round(x)}" y="${top + 13}" fill="${fill}"${weight}${length}>${escapeXml(words)}</text>`;
}

/** The pieces of a row that have one style each. */
function runsOf(row) {
  const runs = [];
  let style = {};
  for (const part of row.split(/(\u001b\[[0-9;:]*m)/)) {
    if (part.startsWith("\u001b[")) style = restyle(style, part.slice(2, -1).split(/[;:]/).map(Number));
    else if (part !== "") runs.push({ text: part, style });
  }
  return runs;
}

/** What an SGR number changes; 40 to 47 set the background, all others a color. */
const CHANGES = {
  1: { bold: true },
  2: { dim: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  27: { inverse: false },
  39: { color: undefined },
  49: { background: false },
};

function restyle(before, codes) {
  let style = before;
  for (const code of codes) {
    const change = code >= 40 && code <= 47 ? { background: true } : (CHANGES[code] ?? { color: code });
    style = code === 0 ? {} : { ...style, ...change };
  }
  return style;
}

function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function round(number) {
  return Math.round(number * 10) / 10;
}
