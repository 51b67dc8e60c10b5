import type { Finding } from "@bough/session-core";
import { FindingsError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import { type Line, styled } from "../terminal/line.js";
import type { Command } from "./command.js";

/** `bough verify`: everything that does not hold in the store, or in one session. */
export const run: Command = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "read", async (store, path) => {
    const sessionId = name === undefined ? undefined : (await store.resolveSession(name)).id;
    const findings: Finding[] = [];
    for await (const finding of store.verify(sessionId)) {
      findings.push(finding);
      if (options.json !== true) out.line(...findingLine(finding));
      await out.pump();
    }
    if (options.json === true) out.json({ findings });
    if (findings.length > 0) throw new FindingsError(`${counted(findings.length, "thing does", "things do")} not hold in ${path}.`);
    if (options.json !== true) out.line(`Everything holds in ${sessionId === undefined ? path : `session ${sessionId}`}.`);
  });
};

function findingLine({ rule, sessionId, entryId, message }: Finding): Line {
  const where = [sessionId, entryId].filter((id) => id !== null).join(" ");
  return [styled("error", rule), where === "" ? "" : `  ${where}`, `  ${message}`];
}
