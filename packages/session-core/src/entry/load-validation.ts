import type { ValidatedEntry } from "./validate.js";

/** Validates what a caller gave as an entry: `validateEntry`. */
export type Validate = (given: unknown, inSchemaOrder?: boolean) => ValidatedEntry;

let validate: Validate | undefined;

/** `validateEntry` if it is loaded already; an append then needs no `await` before its transaction. */
export function loadedValidation(): Validate | undefined {
  return validate;
}

/** Loads `validateEntry`, with zod and the schemas: about 40 ms. Programs that only read never load it. */
export async function loadValidation(): Promise<Validate> {
  validate ??= (await import("./validate.js")).validateEntry;
  return validate;
}
