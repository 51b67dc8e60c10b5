import { describe, expect, test } from "vitest";
import { SerialQueue } from "../../src/async/promises.js";
import { errorCode, isSystemError } from "../../src/errors/system-error.js";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a serial queue", () => {
  test("runs one piece of work at a time, in the order of the calls", async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await nextTurn();
      events.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([queue.run(work("a")), queue.run(work("b")), queue.run(work("c"))])).toEqual(["a", "b", "c"]);
    expect(events).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  test("starts at once if nothing runs, and is busy until the work has ended", async () => {
    const queue = new SerialQueue();
    let isStarted = false;
    const work = queue.run(async () => {
      isStarted = true;
    });
    expect([isStarted, queue.isBusy]).toEqual([true, true]);
    await work;
    await queue.idle();
    expect(queue.isBusy).toBe(false);
  });

  test("a failure rejects its own call only, and is not unhandled if nobody awaits it", async () => {
    const queue = new SerialQueue();
    void queue.run(() => Promise.reject(new RangeError("alone")));
    const failed = queue.run(() => Promise.reject(new RangeError("asked")));
    const next = queue.run(async () => "next");
    await expect(failed).rejects.toThrow("asked");
    expect(await next).toBe("next");
    await expect(queue.idle()).resolves.toBeUndefined();
  });
});

test("the code of an error is that of Node or the system; only errors of the system name a call", () => {
  const system = Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open" });
  const ofNode = Object.assign(new TypeError("null byte"), { code: "ERR_INVALID_ARG_VALUE" });
  expect([system, ofNode, new Error("none"), { code: "ENOENT" }, undefined].map(errorCode)).toEqual([
    "ENOENT",
    "ERR_INVALID_ARG_VALUE",
    undefined,
    undefined,
    undefined,
  ]);
  expect([system, ofNode].map(isSystemError)).toEqual([true, false]);
});
