import { z } from "zod";
import { settingsSchema } from "./settings.js";

/** The settings as JSON schema, for editors of a configuration file and for documentation. */
export function settingsJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
