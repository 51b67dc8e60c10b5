import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { Home, SAMPLE } from "./home.js";
import { ask, view } from "./viewer.js";

/** Debian's user without rights. Only root can start a program as somebody else. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

const home = new Home();

beforeAll(() => void home.bough("import", SAMPLE));

/** The status that a request of another user of this machine gets. An answer that is not read keeps its program until the server closes the connection. */
async function statusFor(uid: number, address: string): Promise<string> {
  const script = `require("node:http").get(${JSON.stringify(address)}, (answer) => { process.stdout.write(String(answer.statusCode)); answer.destroy(); })`;
  const child = spawn(process.execPath, ["-e", script], { uid, gid: uid, stdio: ["ignore", "pipe", "inherit"], env: {}, cwd: "/" });
  const [[printed]] = (await Promise.all([once(child.stdout, "data"), once(child, "exit")])) as [[Buffer], unknown];
  return printed.toString();
}

describe.skipIf(!isRoot)("another user of this machine", () => {
  test("gets 403, also with the address", async () => {
    const { address } = await view(home);
    expect((await ask(address)).status).toBe(200);
    expect(await statusFor(NOBODY, new URL(address).origin)).toBe("403");
    expect(await statusFor(NOBODY, address)).toBe("403");
    expect(await statusFor(NOBODY, `${address}demo-lexer-tabs`)).toBe("403");
    expect(await statusFor(NOBODY, `${address}demo-lexer-tabs/events`)).toBe("403");
    expect((await ask(address)).status).toBe(200);
  });

  test("does not find the address in the list of processes", async () => {
    const { address, child } = await view(home, ["demo-lexer-tabs"]);
    const token = new URL(address).pathname.slice(1, -1);
    const commands = execFileSync("ps", ["-e", "-ww", "-o", "args"], { encoding: "utf8", uid: NOBODY, gid: NOBODY });
    expect(commands).toContain("view");
    expect(commands).not.toContain(token);
    expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).not.toContain(token);
  });
});
