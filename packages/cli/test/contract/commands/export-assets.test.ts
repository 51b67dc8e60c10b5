import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { world } from "../../world.js";

const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("pixels")]);

test("bough export --assets writes images beside the document, by their content, and replaces no file", async () => {
  const here = world();
  const time = "2026-01-05T10:00:00.000Z";
  const image = (data: Buffer) => ({ type: "image", data: data.toString("base64"), mimeType: "image/png" });
  const content = [image(PNG), image(PNG), image(Buffer.from("<svg/>"))];
  const lines = [
    { type: "session", version: 3, id: "images-session", timestamp: time, cwd: here.folder },
    { type: "message", id: "aaaa1111", parentId: null, timestamp: time, message: { role: "user", content, timestamp: 1 } },
  ];
  writeFileSync(here.path("images.jsonl"), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  await here.run(["import", here.path("images.jsonl")]);
  const args = ["export", "images-session", "-o", here.path("out.md"), "--assets", here.path("my images")];
  const { exit, err } = await here.run(args);
  expect(exit).toBe(0);
  expect(err).toContain("1 image in ");
  const [name = "", ...others] = readdirSync(here.path("my images"));
  expect(others).toEqual([]);
  expect(name).toMatch(/^[0-9a-f]{16}\.png$/);
  expect(readFileSync(here.path(`my images/${name}`)).equals(PNG)).toBe(true);
  const text = readFileSync(here.path("out.md"), "utf8");
  expect(text.split(`![image](my%20images/${name})`)).toHaveLength(3);
  expect(text).toContain("left out: it is of no known type");

  writeFileSync(here.path(`my images/${name}`), "mine");
  expect((await here.run([...args, "--force"])).exit).toBe(0);
  expect(readFileSync(here.path(`my images/${name}`), "utf8")).toBe("mine");
  expect(await here.run(["export", "images-session", "--format", "pi", "--assets", "x"])).toMatchObject({ exit: 2 });
  const blocked = await here.run([...args.slice(0, -1), here.path(`out.md`), "--force"]);
  expect(blocked).toMatchObject({ exit: 9, code: "OUTPUT_FAILED" });
});
