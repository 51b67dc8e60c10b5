import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AssetFolder } from "../../src/session/asset-folder.js";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "bough-assets-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function image(name: string) {
  return { name, bytes: Buffer.from(`pixels of ${name}`) };
}

/** The names that somebody sees who lists a folder; none if there is no folder. */
function seen(path: string): readonly string[] {
  try {
    return readdirSync(path).filter((name) => !name.startsWith("."));
  } catch {
    return [];
  }
}

/** Writes a document with two images as far as its last piece; `atPiece` is called with each piece. */
async function written(assets: AssetFolder, atPiece: () => void): Promise<void> {
  async function* pieces(): AsyncIterable<string> {
    yield assets.add(image("a.png"));
    yield assets.add(image("b.png"));
    yield assets.add(image("a.png"));
  }
  for await (const _ of assets.placedAfter(pieces())) atPiece();
}

describe("the images of a document", () => {
  test("get their names after its last piece, and those of files that are there stay", async () => {
    const place = join(folder(), "images");
    mkdirSync(place);
    writeFileSync(join(place, "b.png"), "mine");
    const assets = new AssetFolder(place, place, false);
    await written(assets, () => expect(seen(place)).toEqual(["b.png"]));
    expect(readdirSync(place).sort()).toEqual(["a.png", "b.png"]);
    expect(readFileSync(join(place, "a.png"), "utf8")).toBe("pixels of a.png");
    expect(readFileSync(join(place, "b.png"), "utf8")).toBe("mine");
    assets.discard();
    expect(readdirSync(place)).toEqual(["b.png"]);
  });

  test("may be read by the user alone, as their document", async () => {
    const place = join(folder(), "images");
    await written(new AssetFolder(place, place, false), () => undefined);
    expect(statSync(join(place, "a.png")).mode & 0o777).toBe(0o600);
  });

  test("go with the folders that were made for them when the document is not written", async () => {
    const above = folder();
    const assets = new AssetFolder(join(above, "deep", "images"), above, false);
    await written(assets, () => undefined);
    expect(seen(join(above, "deep", "images"))).toEqual(["a.png", "b.png"]);
    assets.discard();
    expect(readdirSync(above)).toEqual([]);
  });

  test("are gone after an interruption in the middle", async () => {
    const above = folder();
    const assets = new AssetFolder(join(above, "images"), above, false);
    assets.add(image("a.png"));
    await assets.settled();
    assets.discard();
    expect(readdirSync(above)).toEqual([]);
  });

  test("are only counted in a dry run", async () => {
    const above = folder();
    const assets = new AssetFolder(join(above, "images"), above, true);
    await written(assets, () => undefined);
    expect([assets.count, readdirSync(above)]).toEqual([2, []]);
  });
});
