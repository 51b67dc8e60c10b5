import { AiSdkMissingError } from "../errors/compaction-errors.js";

/** Loads the package `ai`, an optional peer. @throws {AiSdkMissingError} it is not installed, or older than version 6. */
export async function loadAiSdk(): Promise<typeof import("ai")> {
  const sdk = await import("ai").catch((cause: unknown) => {
    throw new AiSdkMissingError("missing", { cause });
  });
  // Version 6 added it; the package does not export its version.
  if (!("ToolLoopAgent" in sdk)) throw new AiSdkMissingError("older");
  return sdk;
}
