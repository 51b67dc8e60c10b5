import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PAGE_NAMES, renderPage } from "../../pages/docs-pages.js";

describe("the pages with parts that are written from the program (node .ci/docs.mjs)", () => {
  test("list every command, setting, key and exit code", () => {
    for (const name of PAGE_NAMES) {
      const page = readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
      expect(page).toBe(renderPage(name, page));
    }
  });

  test("say where a part has no place in its page", () => {
    expect(() => renderPage("config.md", "# The config file\n")).toThrow("docs/config.md has no place for its part settings.");
  });
});
