import { checkArgument, withMethods } from "../arguments/rules.js";
import type { SessionContext } from "../context/context.js";
import type { ContextOptions } from "./context-reader.js";
import type { Session } from "./session.js";

/**
 * Builds the context of a session; see `Session.context`.
 *
 * @example
 * const context = await buildSessionContext(session);
 * const { system, messages } = toAnthropic(context);
 */
export async function buildSessionContext(session: Session, options: ContextOptions = {}): Promise<SessionContext> {
  checkArgument("session", session, withMethods("a session", "context"));
  return session.context(options);
}
