import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { renderManPages } from "../../pages/man-pages.js";
import { commandNames } from "./command-names.js";

const pages = renderManPages();

function page(file: string): string {
  return pages.find((one) => one.file === file)?.roff ?? "";
}

describe("the manual pages", () => {
  test("exist for bough and each command, and package.json names each", () => {
    const files = ["bough.1", ...commandNames().map((name) => `bough-${name}.1`)].sort();
    expect(pages.map(({ file }) => file).sort()).toEqual(files);
    const manifest = z
      .object({ man: z.array(z.string()), files: z.array(z.string()) })
      .parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")));
    expect(manifest.man.toSorted()).toEqual(files.map((file) => `./dist/man/${file}`));
    expect(manifest.files).toContain("dist");
  });

  test.each(pages.map(({ file }) => [file]))(
    "%s has the sections of a manual page, in their order, and no line that roff misreads",
    (file) => {
      const roff = page(file);
      expect(roff).toMatch(/^\.TH "BOUGH/);
      const sections = [...roff.matchAll(/^\.SH (.*)$/gm)].map(([, name]) => name ?? "");
      const expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"];
      expect(sections.filter((name) => expected.includes(name))).toEqual(expected);
      expect(roff).toMatch(/^[\n\x20-\x7e]*$/);
      for (const line of roff.split("\n")) {
        expect(line).toMatch(/^(?:\.(?:TH|SH|SS|PP|TP|nf|fi|nh|ad)\b.*|[^.'].*|)$/);
        expect(line.replace(/\\(?:fB|fI|fR|&|-|e|\((?:aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])/g, "")).not.toContain("\\");
      }
    },
  );

  test("print options and command lines as they are typed", () => {
    expect(page("bough-log.1")).toContain(".TP\n\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIn\\fR\nprint at most this many entries\n");
    expect(page("bough-completion.1")).toContain(`bash: echo \\(aqeval \\(dq$(bough completion bash)\\(dq\\(aq >> \\(ti/.bashrc`);
    expect(page("bough.1")).toContain("\\(tiN           N entries above the leaf");
    expect(page("bough-log.1")).toContain("bough\\-log \\- print the entries of a branch");
  });

  test("list the exit codes: of a command with its own errors, in bough(1) all", () => {
    expect(page("bough-edit.1")).toContain(
      ".TP\n\\fB7\\fR EDITOR_FAILED\n\\fBedit\\fR: the editor could not be started, or it ended with an error",
    );
    expect(page("bough-log.1")).not.toContain("EDITOR_FAILED");
    expect(page("bough.1")).toContain(".TP\n\\fB130\\fR\nInterrupted (Ctrl+C).");
  });
});
