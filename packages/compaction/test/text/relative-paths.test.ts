import { describe, expect, test } from "vitest";
import { makePathsRelativeTo } from "../../src/extract/extract.js";

describe("paths relative to a directory", () => {
  test.each([
    ["see /home/ada/app/src/a.ts:4", "see src/a.ts:4"],
    ["(/home/ada/app/a.ts), file:///home/ada/app/b.ts", "(a.ts), b.ts"],
    ["cd /home/ada/app && make", "cd . && make"],
    ["It is in /home/ada/app.", "It is in .."],
    ["/home/ada/app-old/a.ts /home/ada/apple /mnt/home/ada/app/a.ts", "/home/ada/app-old/a.ts /home/ada/apple /mnt/home/ada/app/a.ts"],
  ])("%j become %j", (text, relative) => {
    expect(makePathsRelativeTo("/home/ada/app/")(text)).toBe(relative);
  });

  test("of Windows", () => {
    expect(makePathsRelativeTo("C:\\Users\\ada\\app")("C:\\Users\\ada\\app\\src\\a.ts and C:/Users/ada/app/b.ts")).toBe(
      "src\\a.ts and b.ts",
    );
  });

  test.each([null, "", "/"])("%j change nothing", (directory) => {
    expect(makePathsRelativeTo(directory)("/home/ada/a.ts //x")).toBe("/home/ada/a.ts //x");
  });

  test("may have any sign in its name", () => {
    expect(makePathsRelativeTo("/a/b (c)+[d].e")("/a/b (c)+[d].e/f.ts")).toBe("f.ts");
  });
});
