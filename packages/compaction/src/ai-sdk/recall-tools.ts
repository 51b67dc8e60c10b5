import type { Session } from "@bough/session-core";
import type { ToolSet } from "ai";
import type { RecallOptions } from "../recall/inputs.js";
import { recallTools } from "../recall/recall-tools.js";
import { loadAiSdk } from "./load.js";

/**
 * The tools of `recallTools(session)` as tools of the AI SDK. Compactors of this session handle then name them in their
 * summaries.
 *
 * @throws {AiSdkMissingError} the package `ai` is not installed.
 * @throws {InvalidSettingError} an option is not valid.
 * @example
 * const tools = { ...myTools, ...(await aiSdkRecallTools(session)) };
 */
export async function aiSdkRecallTools(session: Session, options: Pick<RecallOptions, "maxChars"> = {}): Promise<ToolSet> {
  const { definitions } = recallTools(session, options);
  const { jsonSchema, tool } = await loadAiSdk();
  return Object.fromEntries(
    definitions.map(({ name, description, inputSchema, execute }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute }),
    ]),
  );
}
