import { type JsonObject, stringAt } from "../../source/narrow.js";
import type { PiFile } from "./pi-file.js";

/**
 * The model and the thinking level that a file of version 1 names in its header, as the entries that later versions
 * write for them (regression R174). Later versions ignore these fields, and so do we.
 */
export function initialSettingsOf({ header, version }: PiFile): readonly JsonObject[] {
  if (version >= 2) return [];
  const modelId = stringAt(header, "modelId");
  const thinkingLevel = stringAt(header, "thinkingLevel");
  const model = modelId === undefined ? [] : [{ type: "model_change", provider: stringAt(header, "provider"), modelId }];
  return thinkingLevel === undefined ? model : [...model, { type: "thinking_level_change", thinkingLevel }];
}
