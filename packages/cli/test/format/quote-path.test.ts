import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { quotePath } from "../../src/format/path.js";
import { safe } from "../../src/terminal/safe.js";

const PATHS = [
  "/plain/path",
  "/with a space",
  "/it's",
  "/back\\slash",
  "/line\nbreak",
  "/esc\u001b[31mred",
  "/tab\tand 'quote' and \\",
  "/bell\u0007" + "1",
  "/c1\u009bx",
  "/bidi\u202eevil",
  "/zero\u200bwidth",
  "/ümlaut 漢字",
  "/$(touch x) `y` $HOME",
];

describe("a path in a printed command", () => {
  test.each(PATHS)("%j is that path for a shell, and nothing that a terminal interprets", (path) => {
    const quoted = quotePath(path);
    expect(safe(quoted)).toBe(quoted);
    expect(execFileSync("bash", ["-c", `printf %s ${quoted}`], { encoding: "utf8" })).toBe(path);
  });
});
