// docs/cache.md: what is written by hand stays, the tables between the marks are written by npm run eval -- --cache --document.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../../docs/cache.md", import.meta.url));

export function writeCachePage(tables) {
  const text = readFileSync(PAGE, "utf8");
  const [start, end] = ["<!-- cache tables -->", "<!-- end of cache tables -->"];
  const [before, after] = [text.split(start)[0], text.split(end)[1]];
  const body = [
    "One session of 60 turns and 367 requests, tool output of 1,000 to 13,000 characters, every reply with a signed block:",
    tables[0],
    "Other sessions with the default preset: without thinking, with outputs of 200 to 1,500 characters, and with ten pauses after which the cache is cold and fifteen turns that are tried again:",
    tables[1],
  ].join("\n\n");
  writeFileSync(PAGE, `${before}${start}\n\n${body}\n\n${end}${after}`);
}
