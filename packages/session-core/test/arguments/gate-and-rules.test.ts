import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runs } from "../../../../.ci/test-runs.js";
import type { Rule } from "../../src/arguments/rules.js";
import { BLOCK, CONTENT_BLOCK, MESSAGE, MESSAGE_CONTENT, PAYLOAD } from "../../src/arguments/shapes.js";
import { entryPayloadSchema } from "../../src/entry/entry.js";
import { assistantBlockSchema, contentBlockSchema, messageSchema } from "../../src/entry/message.js";

// Texts that fit the patterns of the schemas: base64, types of images and files, a URL.
const PATTERNED = fc.constantFrom("", "aGk=", "image/png", "https://example.org/a.pdf");

/** Values that a schema may take, made from the schema itself; what a refinement refuses is filtered out by the caller. */
function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  switch (def.type) {
    case "object":
      return objectOf(def.shape);
    case "string":
      return fc.oneof(fc.string(), { weight: 3, arbitrary: PATTERNED });
    case "number":
      return fc.nat();
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...def.values);
    case "array":
      return fc.array(valuesOf(def.element), { maxLength: 3 });
    case "union":
      return fc.oneof(...def.options.map(valuesOf));
    case "optional":
    case "default":
      return fc.option(valuesOf(def.innerType), { nil: undefined, freq: 2 });
    case "nullable":
      return fc.option(valuesOf(def.innerType));
    case "pipe":
      return def.out._zod.def.type === "transform" ? valuesOf(def.in) : fc.oneof(valuesOf(def.in), valuesOf(def.out));
    case "custom":
    case "unknown":
      // The third fits provider options.
      return fc.oneof(fc.constant({ openai: { itemId: "rs_1" } }), fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue());
    default:
      throw new Error(`The schema has a ${def.type}, which this test makes no values of yet.`);
  }
}

function objectOf(shape: Readonly<Record<string, z.core.$ZodType>>): fc.Arbitrary<object> {
  const members = Object.entries(shape).map(([name, member]) => [name, valuesOf(member)] as const);
  // A member that is undefined is left out, as in JSON.
  return fc
    .record(Object.fromEntries(members))
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)));
}

const PAIRS: readonly (readonly [what: string, schema: z.ZodType, rule: Rule])[] = [
  ["an entry", entryPayloadSchema, PAYLOAD],
  ["a message", messageSchema, MESSAGE],
  ["a block of a reply", assistantBlockSchema, BLOCK],
  ["a block of what was said", contentBlockSchema, CONTENT_BLOCK],
  ["a content", z.union([z.string(), z.array(contentBlockSchema)]), MESSAGE_CONTENT],
];

describe("what the gate lets in", () => {
  test.each(PAIRS)("%s passes the check of arguments", (_what, schema, rule) => {
    let accepted = 0;
    fc.assert(
      fc.property(valuesOf(schema), (given) => {
        const judged = schema.safeParse(given);
        if (!judged.success) return;
        accepted += 1;
        expect(rule(judged.data, "given")).toBeUndefined();
      }),
      { numRuns: runs(500) },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test.each(PAIRS.filter(([, schema]) => schema instanceof z.ZodDiscriminatedUnion))(
    "%s has a rule for each of its kinds",
    (_what, schema, rule) => {
      const { options } = (schema as z.ZodDiscriminatedUnion)._zod.def;
      const met = new Set<number>();
      fc.assert(
        fc.property(
          fc.nat(options.length - 1).chain((at) => fc.tuple(fc.constant(at), valuesOf(options[at] ?? schema))),
          ([at, given]) => {
            const judged = schema.safeParse(given);
            if (!judged.success) return;
            met.add(at);
            expect(rule(judged.data, "given")).toBeUndefined();
          },
        ),
        { numRuns: runs(3_000) },
      );
      expect(met.size).toBe(options.length);
    },
  );
});
