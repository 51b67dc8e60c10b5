import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type World, world } from "../../world.js";

const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("pixels")]);

/** A world with the session `images-session`: one message with two equal images and one of no known type. */
async function worldWithImages(): Promise<World> {
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
  return here;
}

test("bough export --assets writes images beside the document, by their content, and replaces no file", async () => {
  const here = await worldWithImages();
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

test("bough export --assets writes no document without its images, and leaves no file of one that it could not write", async () => {
  const here = await worldWithImages();
  const before = readdirSync(here.folder);
  const files = (document: string, images: string) => ["-o", here.path(document), "--assets", here.path(images)];
  const blocked = await here.run(["export", "images-session", ...files("new.md", "images.jsonl")]);
  expect(blocked).toMatchObject({ exit: 9, code: "OUTPUT_FAILED" });
  const { exit } = await here.run(["export", "images-session", ...files("missing/new.md", "deep/images")]);
  expect(exit).toBe(9);
  expect(readdirSync(here.folder)).toEqual(before);
  expect(existsSync(here.path("deep"))).toBe(false);
});
