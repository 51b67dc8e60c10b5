import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandsPage, exitCodesPage } from "../../src/program/pages.js";

function page(name: string): string {
  return readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
}

describe("the pages that are made from the program (node .ci/docs.mjs)", () => {
  test("say what the commands say of themselves", () => {
    expect(page("commands.md")).toBe(commandsPage());
  });

  test("list every exit code", () => {
    expect(page("exit-codes.md")).toBe(exitCodesPage());
  });
});
