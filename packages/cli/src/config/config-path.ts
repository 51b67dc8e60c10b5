import { join } from "node:path";
import type { Io } from "../terminal/io.js";
import { userFolder } from "../terminal/user-folder.js";

/** The path of the config file, `bough/config.json` in `XDG_CONFIG_HOME` or `~/.config`; "": there is no home directory. */
export function resolveConfigPath(io: Pick<Io, "env" | "home">): string {
  const folder = userFolder(io, "XDG_CONFIG_HOME");
  return folder === "" ? "" : join(folder, "bough", "config.json");
}
