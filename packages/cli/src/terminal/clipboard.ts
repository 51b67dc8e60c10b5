import { spawn } from "node:child_process";
import { withoutKeys } from "./child-environment.js";

/** The environment of the process that copies, and its operating system. */
export interface ClipboardPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** The result of a copy. `message`: one line for the user. */
export interface CopyOutcome {
  /** True if the text was copied, or was sent to the terminal, which does not confirm a copy. */
  readonly isCopied: boolean;
  readonly message: string;
}

/** A program that takes a text on its stdin. `input`: how it reads the text; default UTF-8. */
interface Copier {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: "utf16" | undefined;
}

/** The end of a copier that did not copy: it is not installed, or it failed. */
type Failure = "missing" | { readonly reason: string };

/** A copier that has not ended by then is killed. */
const TIMEOUT_MS = 3000;

/**
 * Copies a text: with the clipboard program of the desktop, else into the buffer of tmux, else with `sendToTerminal` (OSC 52). The
 * message says which. Never rejects.
 *
 * @example
 * const { message } = await copyText("text", { env: io.env, platform: platform() }, host.copy);
 * // "Copied 4 characters with wl-copy."
 */
export async function copyText(text: string, place: ClipboardPlace, sendToTerminal: (text: string) => void): Promise<CopyOutcome> {
  const amount = describeAmount(text);
  const failures: string[] = [];
  for (const copier of copiersFor(place)) {
    const failure = await pipeInto(copier, text, place.env);
    if (failure === undefined)
      return {
        isCopied: true,
        message: `Copied ${amount} ${copier.command === "tmux" ? "to the tmux buffer" : `with ${copier.command}`}.`,
      };
    if (failure !== "missing") failures.push(`${copier.command}: ${failure.reason}`);
  }
  const [reason] = failures;
  if (!takesOsc52(place))
    return { isCopied: false, message: `Not copied: ${reason ?? "no clipboard program was found"}. ${advice(place)}` };
  sendToTerminal(text);
  const because = reason === undefined ? "" : `, because of ${reason}`;
  return { isCopied: true, message: `Sent ${amount} to the terminal (OSC 52)${because}. Not all terminals copy it.` };
}

function describeAmount(text: string): string {
  const characters = [...text].length;
  return `${characters.toLocaleString("en-US")} ${characters === 1 ? "character" : "characters"}`;
}

/** The programs that fit the place, in the order in which they are tried. They may be missing. */
function copiersFor({ env, platform }: ClipboardPlace): readonly Copier[] {
  const isSet = (name: string) => (env[name] ?? "") !== "";
  // Over SSH these copy to the desktop of the remote machine. X programs use the forwarded display.
  const isLocal = !isSet("SSH_CONNECTION") && !isSet("SSH_TTY");
  const copiers: Copier[] = [];
  if (isLocal && platform === "darwin") copiers.push({ command: "pbcopy", args: [] });
  if (isLocal && isSet("WAYLAND_DISPLAY")) copiers.push({ command: "wl-copy", args: [] });
  if (isSet("DISPLAY")) {
    copiers.push({ command: "xclip", args: ["-selection", "clipboard"] });
    copiers.push({ command: "xsel", args: ["--clipboard", "--input"] });
  }
  if (isLocal && (platform === "win32" || isSet("WSL_DISTRO_NAME"))) copiers.push({ command: "clip.exe", args: [], input: "utf16" });
  if (isSet("TMUX")) {
    // -w also sends the text to the clipboard of the outer terminal; tmux before 3.2 does not know it.
    copiers.push({ command: "tmux", args: ["load-buffer", "-w", "-"] }, { command: "tmux", args: ["load-buffer", "-"] });
  }
  return copiers;
}

/**
 * True unless the terminal is known to ignore OSC 52, as the Linux console and Terminal of macOS do. Others ignore it if set to, without a
 * reply.
 */
function takesOsc52({ env }: ClipboardPlace): boolean {
  return env["TERM"] !== "linux" && env["TERM"] !== "dumb" && env["TERM_PROGRAM"] !== "Apple_Terminal";
}

function advice({ env, platform }: ClipboardPlace): string {
  if (platform === "darwin") return "x writes a file instead.";
  if ((env["WAYLAND_DISPLAY"] ?? "") !== "") return "Install wl-clipboard; x writes a file instead.";
  return (env["DISPLAY"] ?? "") !== "" ? "Install xclip or xsel; x writes a file instead." : "x writes a file instead.";
}

/** Runs a copier with the text on its stdin. Returns undefined if it copied the text. */
function pipeInto({ command, args, input }: Copier, text: string, env: ClipboardPlace["env"]): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: withoutKeys(env), stdio: ["pipe", "ignore", "pipe"], timeout: TIMEOUT_MS });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
    });
    child.on("error", ({ message, ...error }: NodeJS.ErrnoException) => resolve(error.code === "ENOENT" ? "missing" : { reason: message }));
    // X programs stay in the background with the text and keep stderr open, so a success does not wait for its end.
    child.on("exit", (code) => {
      if (code !== 0) return;
      child.stderr.destroy();
      resolve(undefined);
    });
    child.on("close", (code, signal) => resolve({ reason: failureText(said, code, signal) }));
    // A copier that ends before it has read everything breaks the pipe; its exit code says what happened.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input === "utf16" ? Buffer.from(`\ufeff${text}`, "utf16le") : text);
  });
}

function failureText(said: string, code: number | null, signal: NodeJS.Signals | null): string {
  const line = said.split("\n").find((one) => one.trim() !== "");
  if (line !== undefined) return line.trim().replace(/\.$/, "").slice(0, 100);
  return signal === null ? `exit ${code ?? "unknown"}` : `no answer within ${TIMEOUT_MS / 1000} s`;
}
