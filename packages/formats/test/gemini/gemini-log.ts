type Fields = Readonly<Record<string, unknown>>;

const AT = "2026-04-01T10:00:00.000Z";

/** The first line of a log. */
export const header = (fields: Fields = {}) => ({
  sessionId: "11111111-2222-4333-8444-555555555555",
  projectHash: "0".repeat(64),
  startTime: AT,
  lastUpdated: AT,
  kind: "main",
  ...fields,
});

/** A message of the user. */
export const user = (id: string, content: unknown, fields: Fields = {}) => ({ id, timestamp: AT, type: "user", content, ...fields });

/** A reply. */
export const gemini = (id: string, content: unknown, fields: Fields = {}) => ({
  id,
  timestamp: AT,
  type: "gemini",
  content,
  model: "gemini-3-flash",
  ...fields,
});

/** A call in a reply, with its output; undefined: it still runs. */
export const call = (id: string, output?: string, fields: Fields = {}) => ({
  id,
  name: "read_file",
  args: { file_path: `${id}.md` },
  ...(output === undefined ? { status: "executing" } : { status: "success", result: [response(id, output)] }),
  timestamp: AT,
  ...fields,
});

/** The part with the output of a call. */
export const response = (id: string, output: string) => ({ functionResponse: { id, name: "read_file", response: { output } } });
