import { exportMarkdown } from "@bough/formats";
import type { SecretCount } from "@bough/formats/secrets";
import type { EntryId, Session } from "@bough/session-core";

const OPENING = `Go on with the conversation below, which another agent had with me about this project. It is complete up to its end; tool output is
shortened. What it did is done: do not repeat it. Read files again before you change them, and wait for my next message if nothing is left to do.
`;

/**
 * A branch as a prompt for an agent whose sessions cannot be written: an instruction, and the branch as Markdown, in pieces. Secrets are
 * masked, because the text goes to another provider.
 *
 * @param branch the end of the branch; undefined: the leaf.
 */
export async function* branchPrompt(
  session: Session,
  branch: EntryId | undefined,
  onMasked: (counts: readonly SecretCount[]) => void,
): AsyncGenerator<string, void, void> {
  yield `${OPENING}\n`;
  yield* exportMarkdown(session, { branch, onMasked });
}
