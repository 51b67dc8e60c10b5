import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { renderNavigatorPage } from "../../src/program/navigator-page.js";
import { renderCommandsPage, renderExitCodesPage } from "../../src/program/pages.js";

function page(name: string): string {
  return readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
}

describe("the pages that are made from the program (node .ci/docs.mjs)", () => {
  test("say what the commands say of themselves", () => {
    expect(page("commands.md")).toBe(renderCommandsPage());
  });

  test("list every key of the screens", () => {
    expect(page("navigator.md")).toBe(renderNavigatorPage());
  });

  test("list every exit code", () => {
    expect(page("exit-codes.md")).toBe(renderExitCodesPage());
  });
});
