import { createHash } from "node:crypto";
import type { SessionId } from "../ids/ids.js";
import { bind, type Query } from "../query/declare.js";
import { toParameter } from "./text.js";

/** A statement with its parameters, as the driver takes it. */
export interface Statement {
  /** The server keeps it prepared under this name. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** What sending a statement can do. */
export interface Effect {
  /** Whether it changes rows. */
  readonly writes: boolean;
  readonly isRepeatable: boolean;
  /** The session that it writes to, if it says so. */
  readonly session: SessionId | undefined;
}

/** The statement of a query. `prepare`: it may be kept prepared; a query whose text differs from call to call is not. */
export function toStatement(query: Query<never, unknown>, parameters: object, prepare: boolean): Statement {
  const { sql: text, slots } = query.compile();
  const values = bind(slots, parameters).map(toParameter);
  return query.isDynamic || !prepare ? { text, values } : { name: aboutOf(text).name, text, values };
}

/** What the statement of a query does. By convention the parameter `session` of a query is the session that it reads or writes. */
export function effectOf(query: Query<never, unknown>, parameters: object): Effect {
  const { sql: text } = query.compile();
  const writes = query.isDynamic ? isWrite(text) : aboutOf(text).writes;
  const session = "session" in parameters && typeof parameters.session === "string" ? parameters.session : undefined;
  return { writes, isRepeatable: query.isRepeatable ?? !writes, session: writes ? session : undefined };
}

interface About {
  /** The name under which the server keeps a statement prepared: the same text has the same name in every process. */
  readonly name: string;
  readonly writes: boolean;
}

const known = new Map<string, About>();

function aboutOf(text: string): About {
  const found = known.get(text);
  if (found !== undefined) return found;
  const about = { name: `bough_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, writes: isWrite(text) };
  known.set(text, about);
  return about;
}

/** Whether a statement changes rows. `SELECT … FOR UPDATE` does not. */
function isWrite(text: string): boolean {
  return /\b(?:insert\s+into|delete\s+from|merge\s+into|copy\s+\S+.*\sfrom|update\s+\S+(?:\s+as)?(?:\s+\S+)?\s+set)\b/is.test(text);
}
