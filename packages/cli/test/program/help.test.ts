import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listExitCodes } from "../../src/exit-codes.js";
import { createProgram } from "../../src/program/program.js";
import { Printer } from "../../src/terminal/printer.js";
import { quietIo } from "../quiet-io.js";
import { parserSession, world } from "../world.js";
import { commandNames } from "./command-names.js";

describe("help", () => {
  test("names every command, and ends well", async () => {
    const here = world();
    const { exit, out, err } = await here.run(["--help"]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out).toContain("Usage: bough");
    for (const name of commandNames()) expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  test.each([[[]], [["--new"]], [["--store", "x.db"]], [["shell"]], [["tree", "-i"]]])(
    "%j without a terminal says what prints instead",
    async (args) => {
      const here = world();
      const { exit, out, err } = await here.run(args);
      expect({ exit, out }).toEqual({ exit: 10, out: "" });
      expect(err).toMatch(/^bough: .*terminal.*bough tree.*\n$/);
    },
  );

  test.each(commandNames())("of %s has examples that begin with the command, and fits eighty columns", async (name) => {
    const here = world();
    const { out, exit } = await here.run([name, "--help"], { columns: 80 });
    expect(exit).toBe(0);
    expect(out).toMatch(new RegExp(`Examples:\n {2}bough ${name}`));
    const ownLines = out.slice(0, out.includes("\nJSON: ") ? out.indexOf("\nJSON: ") : undefined).split("\n");
    for (const line of ownLines) expect(line.length).toBeLessThanOrEqual(80);
    expect((await here.run(["help", name], { columns: 80 })).out).toBe(out);
  });

  test("an empty --store is a mistake of the command line that names the option; an empty variable is one that is not set", async () => {
    const here = world();
    const { exit, err } = await here.run(["import", "x.jsonl", "--store", ""]);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringMatching(/^bough: option '--store <store>' argument '' is invalid\. It is empty/),
    });
    expect((await here.run(["sessions"], { env: { BOUGH_STORE: "" } })).err).toContain(here.path(".local/share/bough/sessions.db"));
  });

  test.each([
    '"postgres://ada:S3cr3t@db/agents"',
    " postgres://ada:S3cr3t@db/agents",
    "host=db user=ada password=S3cr3t",
    "jdbc:postgresql://db/agents?password=S3cr3t",
    "postgresq://ada:S3cr3t@db/agents",
  ])("an address of a server that is written otherwise is refused, and neither shown nor made a file: %s", async (address) => {
    const here = world();
    for (const [args, env] of [
      [["sessions", "--store", address], {}],
      [["sessions", "--json"], { BOUGH_STORE: address }],
      [["import", "x.jsonl"], { BOUGH_STORE: address }],
      [["copy", "--from", address, "--to", "x.db"], {}],
      [["sessions", address], {}],
      [["serach", `--store=${address}`], {}],
    ] as const) {
      const { exit, out, err } = await here.run([...args], { env });
      expect(exit).not.toBe(0);
      expect(out + err).not.toContain("S3cr3t");
    }
    expect(readdirSync(here.path(".")).filter((name) => name.includes("S3cr3t"))).toEqual([]);
  });

  test("has topics, and refuses unknown ones", async () => {
    const here = world();
    expect((await here.run(["help", "exit-codes"])).out).toContain("       SESSION_NOT_FOUND: ");
    expect((await here.run(["help", "names"])).out).toContain("@leaf");
    const { out: environment } = await here.run(["help", "environment"]);
    for (const name of ["BOUGH_STORE", "XDG_CONFIG_HOME"]) expect(environment).toContain(name);
    expect((await here.run(["help", "cooking"])).exit).toBe(2);
  });

  test.each([
    ["serach", "There is no command 'serach'. Did you mean bough search? bough --help lists the commands."],
    ["checkout", "There is no command 'checkout'. Did you mean bough go? bough --help lists the commands."],
    ["qqq", "There is no command 'qqq'. bough --help lists the commands, and a session is opened by bough shell qqq."],
  ])("%s is answered with the command that was meant", async (word, message) => {
    const here = world();
    expect(await here.run([word, "x"])).toMatchObject({ exit: 2, out: "", err: `bough: ${message}\n`, code: "USAGE" });
  });

  test.each<[readonly string[], string]>([
    [["tree", "--unknown"], "unknown option '--unknown'. bough tree --help lists the options."],
    [["sessions", "--sinc", "2w"], "unknown option '--sinc' (Did you mean --since?)"],
    [["export", "--format", "x"], "option '--format <format>' argument 'x' is invalid."],
    [["rename"], "missing required argument 'session'. bough rename --help shows what it takes."],
    [["undo", "a", "b", "c"], "too many arguments for 'undo'. Expected 1 argument but got 3. bough undo --help shows what it takes."],
    [["serach"], "There is no command 'serach'."],
  ])("%j is one line with its code, and JSON where that is asked for", async (args, message) => {
    const here = world();
    const plain = await here.run(args);
    expect(plain).toMatchObject({ exit: 2, out: "", code: "USAGE", err: expect.stringContaining(`bough: ${message}`) });
    expect(plain.err.split("\n").length).toBe(2);
    const { exit, out, err } = await here.run([...args, "--json"]);
    expect([exit, out]).toEqual([2, ""]);
    expect(JSON.parse(err)).toMatchObject({ error: { code: "USAGE", exit: 2, message: expect.stringContaining(message) } });
  });

  test("the shell takes its session as an argument or as an option, not as both", async () => {
    const here = world();
    const how = { answer: "/quit" };
    expect(await here.run(["shell", "nothing-such"], how)).toMatchObject({
      code: "SESSION_NOT_FOUND",
      err: expect.stringContaining("nothing-such"),
    });
    expect(await here.run(["shell", "a", "--session", "b"], how)).toMatchObject({ exit: 2, code: "USAGE" });
    expect(await here.run(["shell", "a", "--new"], how)).toMatchObject({ exit: 2, code: "USAGE" });
  });

  test.each([
    ["ls", "sessions"],
    ["list", "sessions"],
    ["history", "log"],
    ["find", "search"],
    ["grep", "search"],
    ["rm", "delete"],
  ])("%s is %s", async (alias, name) => {
    const here = world();
    expect((await here.run([alias, "--help"])).out).toBe((await here.run([name, "--help"])).out);
    expect((await here.run(["help", alias])).out).toBe((await here.run([name, "--help"])).out);
  });
});

describe("the command line", () => {
  test("has --json on every command that prints data", () => {
    const io = quietIo("/", { isTerminal: false });
    const program = createProgram(io, new Printer(io), { out: "", err: "" });
    const without = program.commands
      .filter((command) => !command.options.some(({ long }) => long === "--json"))
      .map((command) => command.name());
    expect(without).toEqual(["shell", "mcp", "edit", "export", "demo", "completion", "__complete", "help"]);
  });
});

describe("exit codes", () => {
  test("are a class each, and each error has one", () => {
    const listed = listExitCodes();
    const codes = listed.map(({ exit }) => exit);
    expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b));
    const errors = listed.flatMap(({ errors }) => errors.map(({ code }) => code));
    expect(new Set(errors).size).toBe(errors.length);
    expect(listed.find(({ exit }) => exit === 4)?.errors.map(({ code }) => code)).toContain("SESSION_NOT_FOUND");
  });

  test("stand beside the code of the error, which --json prints as an object", async () => {
    const here = world();
    await parserSession(here);
    const error = {
      code: "SESSION_NOT_FOUND",
      exit: 4,
      message: "No session nothing in this store.",
      hint: "List sessions with `bough sessions`.",
    };
    expect(await here.run(["show", "nothing"])).toMatchObject({
      exit: 4,
      code: error.code,
      err: `bough: ${error.message} ${error.hint}\n`,
    });
    const { out, err } = await here.run(["show", "nothing", "--json"]);
    expect({ out, err: JSON.parse(err) }).toEqual({ out: "", err: { error } });
  });
});
