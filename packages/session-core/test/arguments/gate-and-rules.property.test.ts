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

/** Values that the schema takes. */
const accepted = (values: z.core.$ZodType, schema: z.ZodType) =>
  valuesOf(values)
    .map((given) => schema.safeParse(given))
    .filter(({ success }) => success);

describe("what the gate lets in", () => {
  test.each(PAIRS)("%s passes the check of arguments", (_what, schema, rule) => {
    fc.assert(
      fc.property(accepted(schema, schema), ({ data }) => void expect(rule(data, "given")).toBeUndefined()),
      { numRuns: runs(500) },
    );
  });

  test.each(PAIRS.flatMap(([what, schema, rule]) => kindsOf(schema).map((kind, at) => [what, at, schema, rule, kind] as const)))(
    "%s has a rule for its kind %i",
    (_what, _at, schema, rule, kind) => {
      fc.assert(
        fc.property(accepted(kind, schema), ({ data }) => void expect(rule(data, "given")).toBeUndefined()),
        { numRuns: runs(100) },
      );
    },
  );
});

function kindsOf(schema: z.ZodType): readonly z.core.$ZodType[] {
  return schema instanceof z.ZodDiscriminatedUnion ? schema._zod.def.options : [];
}
