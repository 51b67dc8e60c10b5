import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { TOOLS } from "../../../src/agent/request-frame.js";
import { resolveTarget } from "../../../src/agent/tools/checked-file.js";
import type { ToolInput, ToolOutcome } from "../../../src/agent/tools/tool.js";

/** Runs one tool as the agent does; `meanwhile` happens between the check of the path and the work. */
async function run(cwd: string, name: string, input: ToolInput, meanwhile: () => void = () => undefined): Promise<ToolOutcome> {
  const tool = TOOLS.find((one) => one.name === name);
  const target = (await resolveTarget(input, cwd))?.target ?? null;
  meanwhile();
  if (tool === undefined) throw new TypeError(`no tool ${name}`);
  return tool.run(input, { cwd, env: {}, signal: new AbortController().signal, target });
}

/** A folder `work`, and beside it a folder `outside` with a secret. */
function place() {
  const above = mkdtempSync(join(tmpdir(), "bough-writing-"));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  const [cwd, outside] = [join(above, "work"), join(above, "outside")];
  for (const folder of [cwd, outside, join(cwd, "sub")]) mkdirSync(folder);
  writeFileSync(join(outside, "a.txt"), "secret");
  writeFileSync(join(cwd, "sub", "a.txt"), "own");
  return { cwd, outside };
}

const EDIT = { path: "sub/a.txt", oldText: "own", newText: "new" };
const WRITE = { path: "sub/a.txt", content: "new" };

describe("a file that is replaced", () => {
  test.each([
    ["write", WRITE],
    ["edit", EDIT],
  ])("keeps its mode, and nothing is left beside it: %s", async (name, input) => {
    const { cwd } = place();
    const path = join(cwd, "sub/a.txt");
    chmodSync(path, 0o751);
    await run(cwd, name, input);
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o751);
    expect(readdirSync(join(cwd, "sub"))).toEqual(["a.txt"]);
  });

  test("keeps its owner and group", async () => {
    const { cwd } = place();
    const path = join(cwd, "sub/a.txt");
    // Only root may give files away; for everybody else the owner stays what it is.
    if (process.getuid?.() === 0) chownSync(path, 12_345, 54_321);
    const { uid, gid } = statSync(path);
    await run(cwd, "edit", EDIT);
    expect(statSync(path)).toMatchObject({ uid, gid });
  });

  test("is the one that a link within the folder leads to; the link stays", async () => {
    const { cwd } = place();
    symlinkSync("sub/a.txt", join(cwd, "link"));
    expect((await run(cwd, "write", { path: "link", content: "new" })).text).toBe("Replaced link: 3 bytes.");
    expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(cwd, "sub/a.txt"), "utf8")).toBe("new");
  });

  test("leaves the other names of the old file alone", async () => {
    const { cwd, outside } = place();
    linkSync(join(outside, "a.txt"), join(cwd, "linked"));
    await run(cwd, "write", { path: "linked", content: "new" });
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret");
  });

  test("is not changed if the new content cannot be written", () => {
    const { cwd } = place();
    const path = join(cwd, "big.txt");
    writeFileSync(path, `${"x".repeat(200_000)}\nEND`);
    const { stdout, stderr } = limited(cwd, { path: "big.txt", oldText: "END", newText: "y".repeat(300_000) });
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^big\.txt cannot be written \(EFBIG: .*\)\. It was not changed\.$/),
      stderr: "",
    });
    expect(readFileSync(path, "utf8").endsWith("\nEND")).toBe(true);
    expect(readdirSync(cwd).sort()).toEqual(["big.txt", "sub"]);
  });

  test("stays as it is where it may not be written", () => {
    const { cwd } = place();
    for (const [name, mode] of [
      ["sub/a.txt", 0o444],
      ["sub", 0o777],
      ["..", 0o755],
    ] as const)
      chmodSync(join(cwd, name), mode);
    const { stdout } = limited(cwd, EDIT);
    expect(stdout).toBe("sub/a.txt cannot be written (EACCES: permission denied). It was not changed.");
    expect(readFileSync(join(cwd, "sub/a.txt"), "utf8")).toBe("own");
  });
});

describe("a path that leads elsewhere than when it was checked", () => {
  const swaps: readonly (readonly [string, (cwd: string, outside: string) => void])[] = [
    [
      "a folder became a link",
      (cwd, outside) => {
        rmSync(join(cwd, "sub"), { recursive: true });
        symlinkSync(outside, join(cwd, "sub"));
      },
    ],
    [
      "the file became a link",
      (cwd, outside) => {
        rmSync(join(cwd, "sub/a.txt"));
        symlinkSync(join(outside, "a.txt"), join(cwd, "sub/a.txt"));
      },
    ],
  ];
  const tools = [
    ["read", { path: "sub/a.txt" }],
    ["write", WRITE],
    ["edit", { ...EDIT, oldText: "secret" }],
    ["edit", EDIT],
  ] as const;

  test.each(swaps.flatMap(([what, swap]) => tools.map(([name, input]) => [name, what, input, swap] as const)))(
    "is not followed: %s, %s",
    async (name, _what, input, swap) => {
      const { cwd, outside } = place();
      const outcome = await run(cwd, name, input, () => swap(cwd, outside));
      expect(outcome.isError).toBe(true);
      expect(outcome.text).not.toContain("secret");
      expect([readFileSync(join(outside, "a.txt"), "utf8"), readdirSync(outside)]).toEqual(["secret", ["a.txt"]]);
    },
  );
});

const CHECKED_FILE = fileURLToPath(new URL("../../../src/agent/tools/file-tools.js", import.meta.url));

/** Edits in a process that may write no file of more than 400 KB, and is not root. Gives what it said. */
function limited(cwd: string, input: ToolInput): { readonly stdout: string; readonly stderr: string } {
  const script = join(cwd, "..", "edit.mjs");
  // The bundle has CommonJS packages, which ask for built-in modules by `require`.
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  buildSync({ entryPoints: [CHECKED_FILE], bundle: true, platform: "node", format: "esm", outfile: script, banner: { js } });
  chmodSync(join(cwd, ".."), 0o755);
  const place = `{ cwd: "", env: {}, signal: new AbortController().signal, target: ${JSON.stringify(join(cwd, String(input["path"])))} }`;
  const code = `const { EDIT } = await import(${JSON.stringify(script)});
    process.stdout.write((await EDIT.run(${JSON.stringify(input)}, ${place})).text);`;
  writeFileSync(join(cwd, "..", "main.mjs"), code);
  // The signal that comes with the limit would end the process before it can clean up.
  const command = 'trap "" XFSZ; ulimit -f 400; exec "$0" "$1"';
  const nobody = process.getuid?.() === 0 && input["newText"] === EDIT.newText ? { uid: 65_534, gid: 65_534 } : {};
  return spawnSync("bash", ["-c", command, process.execPath, join(cwd, "..", "main.mjs")], { encoding: "utf8", cwd: "/", ...nobody });
}
