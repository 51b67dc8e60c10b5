import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { RemoteProtocolError, UsageError } from "../../src/errors.js";
import { greetingLine, Lines, parseQuestion, readGreeting } from "../../src/remote/protocol.js";
import { parseSshAddress } from "../../src/remote/ssh.js";

describe("an address for ssh", () => {
  test.each([
    ["ssh://laptop", { destination: "laptop", port: undefined, path: null }],
    ["ssh://laptop/", { destination: "laptop", path: null }],
    ["SSH://ada@laptop.example:2222/srv/a b.db", { destination: "ada@laptop.example", port: "2222", path: "/srv/a b.db" }],
    ["ssh://laptop/~/notes.db", { destination: "laptop", path: "~/notes.db" }],
    ["ssh://ada@[fe80::1%eth0]:22", { destination: "ada@fe80::1%eth0", port: "22", path: null }],
    ['ssh://my_alias-2/it\'s $(x) "y";', { destination: "my_alias-2", path: '/it\'s $(x) "y";' }],
  ])("%s is read", (text, address) => {
    expect(parseSshAddress(text, "--from")).toMatchObject(address);
  });

  test.each([
    ["ssh:laptop", "no address"],
    ["ssh://", "no host"],
    ["ssh://-oProxyCommand=touch%20x/", "hyphen"],
    ["ssh://-l@laptop", "hyphen"],
    ["ssh://@laptop", "hyphen"],
    ["ssh://ada:secret@laptop", "password"],
    ["ssh://lap;top", "characters of shells"],
    ["ssh://$(x)", "characters of shells"],
    ["ssh://lap`x`top", "characters of shells"],
    ["ssh://lap\u001b[31mtop", "characters of shells"],
    ["ssh://laptop:99999", "port"],
    ["ssh://laptop:x/", "port"],
    ["ssh://laptop/C:/Users/ada/x.db", "paths of Windows are not supported"],
    ["ssh://laptop/a\nb", "line breaks"],
  ])("%j is refused", (text, reason) => {
    expect(() => parseSshAddress(text, "--to")).toThrow(UsageError);
    expect(() => parseSshAddress(text, "--to")).toThrow(reason);
    expect(() => parseSshAddress(text, "--to")).not.toThrow("secret@");
  });
});

/** A stream of these pieces. */
function streamOf(...pieces: readonly (string | Buffer)[]): PassThrough {
  const stream = new PassThrough();
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return stream;
}

describe("the lines of a protocol", () => {
  test("are whole, however they are cut, and what has no end is dropped", async () => {
    const text = Buffer.from("one\nzwei ä\n\nthree");
    const lines = new Lines(streamOf(...Array.from(text, (byte) => Buffer.from([byte]))));
    const read: (string | undefined)[] = [];
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) read.push(line);
    expect(read).toEqual(["one", "zwei ä", ""]);
  });

  test("have a limited length", async () => {
    const lines = new Lines(streamOf("x".repeat(50), "y".repeat(51), "\n"));
    await expect(lines.next(100)).rejects.toThrow(RemoteProtocolError);
  });

  test.each(["[]", "{}", "x", '{"id":1,"ask":"drop"}', '{"id":-1,"ask":"ids"}', '{"id":1,"ask":"entries","session":3,"after":0,"upTo":1}'])(
    "%s is no question",
    (line) => {
      expect(() => parseQuestion(line)).toThrow(RemoteProtocolError);
    },
  );
});

describe("a greeting", () => {
  const greeting = { oldest: 1, newest: 2, version: "1.0.0" };

  test("is found behind what a shell prints", async () => {
    const lines = new Lines(streamOf("Welcome\n\u0000\u00ff\nprompt> ", greetingLine(greeting), '{"id":0}\n'));
    expect(await readGreeting(lines)).toEqual(greeting);
    expect(await lines.next()).toBe('{"id":0}');
  });

  test("that does not come is noticed at the end, or after more than a shell prints", async () => {
    expect(await readGreeting(new Lines(streamOf("Welcome\n")))).toBe("ended");
    expect(await readGreeting(new Lines(streamOf("y\n".repeat(200_000))))).toBe("none");
    await expect(readGreeting(new Lines(streamOf("y".repeat(300_000))))).rejects.toThrow(RemoteProtocolError);
  });
});
