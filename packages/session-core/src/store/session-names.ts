import { AmbiguousNameError, SessionNotFoundError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { SessionRecord } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import { withoutNamedForks } from "../rules/fork-titles.js";
import { shorten } from "../text/cut.js";

/** Resolves what a person typed to a session; see `Store.resolveSession`. @throws {AmbiguousNameError | SessionNotFoundError} */
export async function resolveSession(storage: SessionStorage, name: string): Promise<SessionRecord> {
  const found = withoutNamedForks(await storage.sessionsNamed(name, AmbiguousNameError.COUNTED));
  const [first, second] = found;
  if (first === undefined) throw new SessionNotFoundError(name);
  // The id of a subagent's session starts with that of its conversation, so a prefix of both means the conversation.
  if (first.kind === "conversation" && second?.kind === "subagent") return first;
  if (found.length > 1)
    throw new AmbiguousNameError(
      name,
      found.map(({ id, title, firstText }) => describeCandidate(id, title ?? firstText)),
    );
  return first;
}

/** Describes a candidate for `AmbiguousNameError`, short enough for ten on one line. */
function describeCandidate(id: SessionId, title: string | null): string {
  if (title === null) return id;
  return `${id} (${shorten(title, 40)})`;
}
