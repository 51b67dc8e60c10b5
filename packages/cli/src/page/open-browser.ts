import { spawn } from "node:child_process";
import { platform } from "node:os";

/** The program that opens an address, and its arguments; undefined: there is none here. */
function browserCommand(system: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): readonly string[] | undefined {
  const chosen = env["BROWSER"]?.split(":")[0];
  if (chosen !== undefined && chosen !== "") return [chosen];
  if (system === "darwin") return ["open"];
  if (system === "win32") return ["explorer.exe"];
  const hasScreen = [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some((value) => value !== undefined && value !== "");
  return hasScreen ? ["xdg-open"] : undefined;
}

/** Opens an address in the person's browser: $BROWSER, or that of the desktop. Returns whether a program for it was started. */
export async function openBrowser(address: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const [program, ...args] = browserCommand(platform(), env) ?? [];
  if (program === undefined) return false;
  const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => child.once("spawn", () => resolve(true)).once("error", () => resolve(false)));
}
