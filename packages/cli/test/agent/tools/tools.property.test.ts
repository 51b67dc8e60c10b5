import fc from "fast-check";
import { describe, test } from "vitest";
import { BoundedText } from "../../../src/agent/tools/bounded-text.js";
import { replaceOnce } from "../../../src/agent/tools/file-tools.js";

describe("edit", () => {
  test("changes nothing around the place", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, after, newText) => {
        const { text } = replaceOnce(`${before}\u0001${after}`, "\u0001", `${newText}\u0002`, "a");
        return text === `${before}${newText}\u0002${after}`;
      }),
    );
  });
});

describe("bounded text", () => {
  test("is the whole text if it fits, else its beginning and end, in pieces of any size", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30 })), fc.integer({ min: 2, max: 60 }), (pieces, limit) => {
        const bounded = new BoundedText(limit);
        for (const piece of pieces) bounded.push(piece);
        const whole = pieces.join("");
        if (whole.length <= limit) return bounded.text() === whole.toWellFormed();
        const head = Math.floor(limit * 0.4);
        const gap = `\n[${whole.length - limit} characters omitted]\n`;
        return bounded.text() === `${whole.slice(0, head)}${gap}${whole.slice(whole.length - (limit - head))}`.toWellFormed();
      }),
    );
  });
});
