/**
 * Thrown out of the transaction of an import to undo it: the store's session of this id holds other entries, so the
 * source goes into a session of its own. Never leaves this folder.
 */
export class DifferentSession extends Error {
  override readonly name = "DifferentSession";
  constructor(
    /** What was found different: names the other session, so that importing again finds it. */
    readonly evidence: string,
  ) {
    super("the session holds other entries");
  }
}
