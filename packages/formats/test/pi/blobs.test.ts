import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { at, entriesOf, folder, HEADER, problemsOf, sessionIn, write } from "./pi-files.js";

const BYTES = Buffer.from("a small picture");
const HASH = createHash("sha256").update(BYTES).digest("hex");
const REFERENCE = `blob:sha256:${HASH}`;

/** The payload and the problems of one record in an agent's folder that has these blobs. */
function read(record: Record<string, unknown>, blobs: Readonly<Record<string, Buffer>> = { [HASH]: BYTES }) {
  const agent = folder();
  mkdirSync(join(agent, "blobs"));
  for (const [name, bytes] of Object.entries(blobs)) writeFileSync(join(agent, "blobs", name), bytes);
  const records = [...sessionIn(write(join(agent, "sessions", "-project", "s.jsonl"), [HEADER, at("e", null, record)])).records()];
  return { payload: entriesOf(records)[0]?.payload, problems: problemsOf(records) };
}

const image = (data: string) => ({ type: "image", data, mimeType: "image/png" });
const said = (content: unknown, fields: Record<string, unknown> = {}) => ({
  type: "message",
  message: { role: "toolResult", toolCallId: "t", content, ...fields },
});

describe("an image that oh-my-pi keeps in a file of its own", () => {
  test("is put back into the content", () => {
    expect(read(said([image(REFERENCE)]))).toEqual({ payload: said([image(BYTES.toString("base64"))]), problems: [] });
  });

  test("is put back into details as well", () => {
    const { payload } = read(said([], { details: { images: [image(REFERENCE)] } }));
    expect(payload).toEqual(said([], { details: { images: [image(BYTES.toString("base64"))] } }));
  });

  test("is put back as the address it was in provider data", () => {
    const url = Buffer.from("data:image/png;base64,AAAA");
    const hash = createHash("sha256").update(url).digest("hex");
    const { payload } = read(said([], { providerPayload: { items: [{ image_url: `blob:sha256:${hash}` }] } }), { [hash]: url });
    expect(payload).toEqual(said([], { providerPayload: { items: [{ image_url: url.toString() }] } }));
  });

  test("that is missing is reported, and its reference kept as a foreign block", () => {
    const { payload, problems } = read(said([image(REFERENCE)]), {});
    expect(payload).toEqual(said([{ type: "foreign", originalType: "image", raw: image(REFERENCE) }]));
    expect(problems).toMatchObject([{ code: "missing-blob", line: 2 }]);
  });

  test("whose file holds something else counts as missing", () => {
    expect(read(said([image(REFERENCE)]), { [HASH]: Buffer.from("another") }).problems).toMatchObject([{ code: "missing-blob" }]);
  });

  test("is never looked for outside the blobs folder", () => {
    const { payload, problems } = read(said([image("blob:sha256:../sessions/-project/s.jsonl")]));
    expect(payload).toMatchObject({ message: { content: [{ type: "foreign" }] } });
    expect(problems).toEqual([]);
  });
});

test("a text that only looks like a reference stays a text", () => {
  const content = [{ type: "text", text: REFERENCE }];
  expect(read(said(content))).toEqual({ payload: said(content), problems: [] });
});
