import { PassThrough, type Readable, type Writable } from "node:stream";

/** The longest message, in bytes. The protocol's own reader ends the connection without an answer at a little more. */
const MAX_BYTES = 8_000_000;
/** The start and the end of a message, in one of which clients write its id. */
const EDGE_CHARS = 500;
const LINE_FEED = 0x0a;

/**
 * Returns the messages of a client, one a line, without those of more than 8 MB. Each of these is answered with an error on `output`,
 * so that the client gets the reason and the server continues.
 */
export function limitLines(input: Readable, output: Writable): Readable {
  const limited = new PassThrough();
  let line: Buffer[] = [];
  let bytes = 0;
  let [head, tail] = ["", ""];
  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (head.length < EDGE_CHARS) head += piece.toString("latin1", 0, EDGE_CHARS);
    tail = (tail + piece.toString("latin1", Math.max(0, piece.length - EDGE_CHARS))).slice(-EDGE_CHARS);
    if (bytes <= MAX_BYTES) line.push(piece);
    else line = [];
  };
  const end = (): void => {
    if (bytes <= MAX_BYTES) for (const piece of line) limited.write(piece);
    else output.write(`${JSON.stringify(refusal(head, tail))}\n`);
    [line, bytes, head, tail] = [[], 0, "", ""];
  };
  const read = (given: Buffer | string): void => {
    const chunk = Buffer.from(given);
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(LINE_FEED, from);
      add(chunk.subarray(from, at < 0 ? chunk.length : at + 1));
      if (at >= 0) end();
      from = at < 0 ? chunk.length : at + 1;
    }
  };
  input.on("data", read);
  const finish = (): void => {
    if (bytes > 0) end();
    limited.end();
  };
  input.once("end", finish).once("close", finish);
  input.once("error", (error) => limited.destroy(error));
  // A listener would keep the process alive after the server has ended.
  limited.once("close", () => input.off("data", read).pause());
  return limited;
}

const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[\w-]{1,100}")`;
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}`);
const ID_LAST = new RegExp(String.raw`${ID}\s*\}\s*$`);

function refusal(head: string, tail: string) {
  const written = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1] ?? "null";
  const id: unknown = JSON.parse(written);
  const message = `The message has more than ${MAX_BYTES / 1_000_000} MB and was not read.`;
  return { jsonrpc: "2.0", id, error: { code: -32_600, message } };
}
