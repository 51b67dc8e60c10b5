import type { RawBuilder, Sql } from "kysely";
import { MARK_KINDS } from "./schema.js";

/**
 * The conditions of a list or a path of entries. Each combination is a query of its own: with a condition that was not asked for, the
 * server could not use the index.
 */
export interface FilterShape {
  /** `marks`: only kinds that the index `entry_marks` has. */
  readonly kinds: "any" | "marks" | "some";
  readonly hasCustomType: boolean;
}

const SHAPES: readonly FilterShape[] = (["any", "marks", "some"] as const).flatMap((kinds) =>
  [false, true].map((hasCustomType) => ({ kinds, hasCustomType })),
);

/** The parameters of a filter. */
export interface FilterParameters {
  /** Numbers of kinds; null: any. */
  readonly kinds: readonly number[] | null;
  readonly customType: string | null;
}

const marks: ReadonlySet<number> = new Set(MARK_KINDS.split(", ").map(Number));

const nameOf = ({ kinds, hasCustomType }: FilterShape) => `${kinds} ${hasCustomType}`;

/** Declares one query for each combination of conditions. Returns the one for a filter. */
export function eachFilter<Q>(declare: (shape: FilterShape) => Q): (filter: FilterParameters) => Q {
  const [first, ...others] = SHAPES;
  if (first === undefined) throw new Error("no shapes");
  const plain = declare(first);
  const queries = new Map([[nameOf(first), plain], ...others.map((shape): [string, Q] => [nameOf(shape), declare(shape)])]);
  return (filter) => queries.get(nameOf(shapeOf(filter))) ?? plain;
}

function shapeOf({ kinds, customType }: FilterParameters): FilterShape {
  const areMarks = kinds?.every((kind) => marks.has(kind)) === true;
  return { kinds: kinds === null ? "any" : areMarks ? "marks" : "some", hasCustomType: customType !== null };
}

/** SQL of the conditions on the table `entry`. */
export function matching(sql: Sql, p: FilterParameters, { kinds, hasCustomType }: FilterShape): RawBuilder<unknown> {
  // The number of each kind is a part of the statement: the server uses a partial index only for numbers that it knows when it plans.
  const isMark = kinds === "marks" ? sql`AND entry.kind IN (${sql.raw(MARK_KINDS)})` : sql``;
  const isOfKind = kinds === "any" ? sql`` : sql`AND entry.kind = ANY(${p.kinds}::smallint[])`;
  return sql`${hasCustomType ? sql`AND entry.custom_type = ${p.customType}` : sql``} ${isMark} ${isOfKind}`;
}
