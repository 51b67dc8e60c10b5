import { AmbiguousNameError, SessionNotFoundError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { SessionRecord } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import { withoutNamedForks } from "../rules/fork-titles.js";
import { shorten } from "../text/cut.js";

/**
 * Resolves what a person typed to a session; see `Store.resolveSession`. `mask` takes secrets out of the titles in the error.
 *
 * @throws {AmbiguousNameError | SessionNotFoundError}
 */
export async function resolveSession(
  storage: SessionStorage,
  name: string,
  mask: (title: string, id: SessionId) => Promise<string> = async (title) => title,
): Promise<SessionRecord> {
  const found = withoutNamedForks(await storage.sessionsNamed(name, AmbiguousNameError.COUNTED));
  const [first, second] = found;
  if (first === undefined) throw new SessionNotFoundError(name);
  // The id of a subagent's session starts with that of its conversation, so a prefix of both means the conversation.
  if (first.kind === "conversation" && second?.kind === "subagent") return first;
  if (found.length === 1) return first;
  const described: string[] = [];
  for (const [at, { id, title, firstText }] of found.entries()) {
    const text = title ?? firstText;
    // The error names the first ones; of the others only the number.
    described.push(at >= AmbiguousNameError.NAMED || text === null ? id : describeCandidate(id, await mask(text, id)));
  }
  throw new AmbiguousNameError(name, described);
}

/** Describes a candidate for `AmbiguousNameError`, short enough for ten on one line. */
function describeCandidate(id: SessionId, title: string): string {
  return `${id} (${shorten(title, 40)})`;
}
