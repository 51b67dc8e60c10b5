import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { startProgress } from "../../src/commands/progress.js";
import { Printer } from "../../src/terminal/printer.js";
import { quietIo } from "../quiet-io.js";

/** The line of an operation that is 37 % done, on a terminal of some width. */
async function drawn(columns: number): Promise<string> {
  const written: string[] = [];
  const progressStream = { columns, write: (text: string) => written.push(text) };
  const io = quietIo(tmpdir(), {}, { progressStream });
  const progress = await startProgress(io, new Printer(io), "importing");
  progress.update(37, 100, "/home/ann/session.jsonl");
  return written.join("").replaceAll(/\r|\u001b\[K/g, "");
}

test("a progress line has a bar, and on a narrow terminal only the share and the name", async () => {
  expect(await drawn(80)).toMatch(/^importing {12}\S{20} 37% session\.jsonl$/);
  expect(await drawn(20)).toBe("importing 37% sessi");
});
