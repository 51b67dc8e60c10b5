import { isAbsolute, join } from "node:path";
import type { Io } from "../terminal/io.js";

/** Where the config file is, whether it is there or not: `bough/config.json` in `XDG_CONFIG_HOME`, or `~/.config`. Empty: there is no home directory, and so no file. */
export function configPath({ env, home }: Pick<Io, "env" | "home">): string {
  // The XDG standard: a relative path there is to be ignored.
  const named = env["XDG_CONFIG_HOME"];
  const isNamed = named !== undefined && isAbsolute(named);
  if (!isNamed && home === "") return "";
  const folder = isNamed ? named : join(home, ".config");
  return join(folder, "bough", "config.json");
}
