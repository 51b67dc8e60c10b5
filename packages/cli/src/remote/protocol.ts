import type { Readable, Writable } from "node:stream";
import { toSessionSeq } from "@bough/session-core/engine";
import * as z from "zod";
import { RemoteProtocolError } from "../errors.js";

// The messages of two processes of Bough over stdin and stdout of `bough copy --serve`: one JSON text a line. The server begins
// with a greeting that names the versions of the protocol that it speaks; the client then opens a store and asks, many questions at once;
// each answer has the number of its question. Docs: docs/two-laptops.md.

/** The versions of the protocol that this Bough speaks. A change of a message is a new version. */
export const PROTOCOLS = { oldest: 1, newest: 1 } as const;

/** The longest line, in bytes: that of an entry of the largest size. */
export const MOST_LINE_BYTES = 384 * 1024 * 1024;

/** The most bytes that a shell may print before the server greets: a welcome, the output of a `.bashrc`. */
const MOST_BANNER_BYTES = 256 * 1024;

const GREETING = "bough-copy-serve ";

const greetingSchema = z.object({
  oldest: z.number().int(),
  newest: z.number().int(),
  version: z.string().max(100),
});

/** The first line of the server. */
export type Greeting = z.infer<typeof greetingSchema>;

export function greetingLine(greeting: Greeting): string {
  return `${GREETING}${JSON.stringify(greeting)}\n`;
}

const id = z.number().int().nonnegative();
const row = z.object({ id: z.string(), seq: z.number().transform(toSessionSeq) });
const session = z.union([z.string(), row]);

/** The questions of the client, each with its answer. */
const questionSchema = z.discriminatedUnion("ask", [
  /** Opens the store; the first question. `path`: null for the usual store of that user. Answer: `Opened`. */
  z.object({
    id,
    ask: z.literal("open"),
    protocol: z.number().int(),
    path: z.string().max(4096).nullable(),
    /** `compare`: as `read`, and a store that does not exist is an empty one. */
    access: z.enum(["read", "write", "compare"]),
  }),
  /** The id of the session that a person names. */
  z.object({ id, ask: z.literal("find"), name: z.string().max(10_000) }),
  /** The ids of all sessions, or of those of the subagents of one. */
  z.object({ id, ask: z.literal("ids"), parent: z.string().optional() }),
  /** Digests of sessions without their entries; null for a session that is not there. */
  z.object({ id, ask: z.literal("states"), sessions: z.array(z.string()).max(1000) }),
  /** A session without its entries, or null. */
  z.object({ id, ask: z.literal("state"), session }),
  z.object({ id, ask: z.literal("entries"), session, after: z.number(), upTo: z.number() }),
  /** The digest of the first entries, or with null of all that the session has. */
  z.object({ id, ask: z.literal("digest"), session, entries: z.number().nullable() }),
  /** Writes a part. `state` is left out where it is that of the part before. Answer: the row of the session. */
  z.object({ id, ask: z.literal("write"), session: z.string(), state: z.unknown().optional(), part: z.looseObject({}) }),
  /** Waits until another process writes to the store, at most for this time. Answer: whether one did since the last answer. */
  z.object({ id, ask: z.literal("changes"), waitMs: z.number().min(0).max(60_000) }),
]);

export type Question = z.infer<typeof questionSchema>;
/** A question without its number. */
export type Asked = { [A in Question["ask"]]: Omit<Extract<Question, { ask: A }>, "id"> }[Question["ask"]];

const openedSchema = z.object({ name: z.string().max(10_000), exists: z.boolean() });
/** The answer to `open`: the name of the store for people, and whether it exists. */
export type Opened = z.infer<typeof openedSchema>;

const errorSchema = z.object({ code: z.string().max(100), message: z.string().max(10_000), hint: z.string().max(10_000).optional() });
export type SentError = z.infer<typeof errorSchema>;

const answerSchema = z.object({ id, value: z.unknown().optional(), error: errorSchema.optional() });
export type Answer = z.infer<typeof answerSchema>;

/** The answers that are no parts of a session. */
export const ANSWERS = {
  opened: openedSchema,
  id: z.string().min(1).max(128),
  ids: z.array(z.string().max(128)),
  digests: z.array(z.string().max(64).nullable()),
  digest: z.string().max(64).nullable(),
  row,
  changed: z.boolean(),
} as const;

/** @throws {RemoteProtocolError} */
export function parseQuestion(line: string): Question {
  return checked(questionSchema, toJson(line));
}

/** @throws {RemoteProtocolError} */
export function parseAnswer(line: string): Answer {
  return checked(answerSchema, toJson(line));
}

/** The value, if it is of this shape. @throws {RemoteProtocolError} */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new RemoteProtocolError("a message that is not one of this protocol");
  return result.data;
}

function toJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new RemoteProtocolError("a line that is not JSON");
  }
}

/**
 * Reads what a shell prints first and then the greeting.
 *
 * @returns `ended`: the stream ended before a line that greets; `none`: something else prints more than a shell does.
 */
export async function readGreeting(lines: Lines): Promise<Greeting | "ended" | "none"> {
  for (let read = 0; read <= MOST_BANNER_BYTES; ) {
    const line = await lines.next(MOST_BANNER_BYTES);
    if (line === undefined) return "ended";
    read += line.length + 1;
    // A prompt or a message without a line break may stand before it.
    const start = line.indexOf(GREETING);
    if (start === -1) continue;
    const greeting = greetingSchema.safeParse(toJson(line.slice(start + GREETING.length)));
    if (greeting.success) return greeting.data;
  }
  return "none";
}

/** The lines of a stream, each of a limited length. Reads no further than it is asked to, and one piece of the stream. */
export class Lines {
  readonly #pieces: AsyncIterator<Buffer>;
  /** Of the line that has begun. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #rest: Buffer | undefined;

  constructor(stream: Readable) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** The next line; undefined: the stream has ended, and what follows the last line break is dropped. @throws {RemoteProtocolError} */
  async next(mostBytes = MOST_LINE_BYTES): Promise<string | undefined> {
    for (;;) {
      const piece = this.#rest ?? (await this.#read());
      this.#rest = undefined;
      if (piece === undefined) return undefined;
      const end = piece.indexOf(0x0a);
      this.#begunBytes += end === -1 ? piece.length : end;
      if (this.#begunBytes > mostBytes) throw new RemoteProtocolError(`a line of more than ${mostBytes} bytes`);
      if (end === -1) {
        this.#begun.push(piece);
        continue;
      }
      const line = Buffer.concat([...this.#begun, piece.subarray(0, end)]).toString("utf8");
      this.#begun = [];
      this.#begunBytes = 0;
      if (end + 1 < piece.length) this.#rest = piece.subarray(end + 1);
      return line;
    }
  }

  async #read(): Promise<Buffer | undefined> {
    try {
      const { value, done } = await this.#pieces.next();
      return done === true ? undefined : value;
    } catch {
      // A stream that breaks is one that ends.
      return undefined;
    }
  }
}

/** Writes lines to a stream, and waits while it is full. */
export class LineWriter {
  readonly #stream: Writable;
  /** While the stream is full: all writes wait together, because Node warns of more than ten listeners. */
  #emptied: Promise<void> | undefined;
  #isBroken = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    // The reader that has gone is noticed at the end of its own stream.
    stream.on("error", () => {
      this.#isBroken = true;
    });
  }

  async write(line: string): Promise<void> {
    if (this.#isBroken || this.#stream.destroyed) return;
    if (this.#stream.write(`${line}\n`)) return;
    this.#emptied ??= new Promise<void>((resolve) => {
      const settle = () => {
        for (const name of ["drain", "close", "error"] as const) this.#stream.off(name, settle);
        this.#emptied = undefined;
        resolve();
      };
      for (const name of ["drain", "close", "error"] as const) this.#stream.on(name, settle);
    });
    await this.#emptied;
  }
}
