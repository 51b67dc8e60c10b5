import { isAbsolute, join } from "node:path";
import type { Io } from "../terminal/io.js";

/** The path of the config file, `bough/config.json` in `XDG_CONFIG_HOME` or `~/.config`; "": there is no home directory. */
export function resolveConfigPath({ env, home }: Pick<Io, "env" | "home">): string {
  const configHome = env["XDG_CONFIG_HOME"];
  // The XDG specification requires that relative paths are ignored.
  const isSet = configHome !== undefined && isAbsolute(configHome);
  if (!isSet && home === "") return "";
  return join(isSet ? configHome : join(home, ".config"), "bough", "config.json");
}
