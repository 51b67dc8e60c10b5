import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyText } from "../../src/terminal/clipboard.js";

/** A folder of programs, which is the PATH of the copy; what the terminal was sent. */
class Desktop {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-clipboard-"));
  readonly sent: string[] = [];

  /** Installs a program: a shell script. `$OUT` is the file of this name that the test reads. */
  install(name: string, script: string): this {
    const path = join(this.folder, name);
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\nOUT='${path}.out'\n${script}\n`);
    chmodSync(path, 0o755);
    return this;
  }

  /** A program that keeps what it reads, and its arguments. */
  working(name: string): this {
    return this.install(name, `echo "$@" > '${join(this.folder, `${name}.args`)}'; cat > "$OUT"`);
  }

  /** What a program has read; undefined: it was not run. */
  read(name: string, encoding: BufferEncoding = "utf8"): string | undefined {
    const path = join(this.folder, `${name}.out`);
    return existsSync(path) ? readFileSync(path, encoding) : undefined;
  }

  args(name: string): string {
    return readFileSync(join(this.folder, `${name}.args`), "utf8").trim();
  }

  copy(text: string, env: Record<string, string>, platform: NodeJS.Platform = "linux") {
    return copyText(text, { env: { TERM: "xterm-256color", PATH: this.folder, ...env }, platform }, (sent) => this.sent.push(sent));
  }
}

function desktop(): Desktop {
  const made = new Desktop();
  onTestFinished(() => rmSync(made.folder, { recursive: true, force: true }));
  return made;
}

const TEXT = "日本語\n\tand a tab 👍";

describe("a copy", () => {
  it.each<[string, Record<string, string>, NodeJS.Platform, string]>([
    ["pbcopy", {}, "darwin", ""],
    ["wl-copy", { WAYLAND_DISPLAY: "wayland-0" }, "linux", ""],
    ["xclip", { DISPLAY: ":0" }, "linux", "-selection clipboard"],
    ["xsel", { DISPLAY: ":0" }, "linux", "--clipboard --input"],
  ])("uses %s where the environment has its desktop", async (program, env, platform, args) => {
    const here = desktop().working(program);
    expect(await here.copy(TEXT, env, platform)).toEqual({ isCopied: true, message: `Copied 16 characters with ${program}.` });
    expect([here.read(program), here.args(program), here.sent]).toEqual([TEXT, args, []]);
  });

  it("gives clip.exe of Windows UTF-16, from WSL too", async () => {
    const here = desktop().working("clip.exe");
    expect((await here.copy(TEXT, { WSL_DISTRO_NAME: "Debian" })).message).toContain("with clip.exe");
    expect(here.read("clip.exe", "utf16le")).toBe(`\ufeff${TEXT}`);
  });

  it("takes the program of Wayland before those of X", async () => {
    const here = desktop().working("wl-copy").working("xclip");
    await here.copy(TEXT, { WAYLAND_DISPLAY: "wayland-0", DISPLAY: ":0" });
    expect([here.read("wl-copy"), here.read("xclip")]).toEqual([TEXT, undefined]);
  });

  it("does not use a program whose desktop is not there, or is that of the machine behind SSH", async () => {
    const here = desktop().working("pbcopy").working("wl-copy").working("xclip");
    await here.copy(TEXT, {});
    await here.copy(TEXT, { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22", WAYLAND_DISPLAY: "wayland-0" }, "darwin");
    expect(["pbcopy", "wl-copy", "xclip"].map((name) => here.read(name))).toEqual([undefined, undefined, undefined]);
    expect(here.sent).toEqual([TEXT, TEXT]);
  });

  it("does not wait for a program that stays in the background with the text, as xclip does", async () => {
    const here = desktop().install("xclip", 'cat > "$OUT"; exec 0<&- 1>&-; sleep 60 & echo $! > "$OUT.pid"; exit 0');
    expect((await here.copy(TEXT, { DISPLAY: ":0" })).message).toBe("Copied 16 characters with xclip.");
    process.kill(Number(readFileSync(join(here.folder, "xclip.out.pid"), "utf8")));
  });
});

describe("a copy in tmux", () => {
  it("goes into the buffer of tmux, and on to the clipboard of its terminal", async () => {
    const here = desktop().working("tmux");
    const { message } = await here.copy("a", { TMUX: "/tmp/tmux-0/default,1,0" });
    expect(message).toBe("Copied 1 character to the tmux buffer.");
    expect([here.read("tmux"), here.args("tmux"), here.sent]).toEqual(["a", "load-buffer -w -", []]);
  });

  it("leaves out the flag that an older tmux does not know", async () => {
    const here = desktop().install("tmux", 'case "$*" in *-w*) echo "unknown flag -w" >&2; exit 1;; esac; cat > "$OUT"');
    expect((await here.copy(TEXT, { TMUX: "x,1,0" })).message).toBe("Copied 16 characters to the tmux buffer.");
    expect(here.read("tmux")).toBe(TEXT);
  });

  it("prefers the clipboard of the desktop", async () => {
    const here = desktop().working("tmux").working("wl-copy");
    expect((await here.copy(TEXT, { TMUX: "x,1,0", WAYLAND_DISPLAY: "wayland-0" })).message).toContain("with wl-copy");
    expect(here.read("tmux")).toBeUndefined();
  });
});

describe("a copy without a program", () => {
  it("is sent to the terminal, and says that not every terminal copies it", async () => {
    const here = desktop();
    const { isCopied, message } = await here.copy(TEXT, { DISPLAY: ":0" });
    expect([isCopied, message]).toEqual([true, "Sent 16 characters to the terminal (OSC 52). Not all terminals copy it."]);
    expect(here.sent).toEqual([TEXT]);
  });

  it("says which program failed, and why", async () => {
    const here = desktop().install("xclip", 'cat > /dev/null; echo "Error: Can\'t open display: :7" >&2; exit 1');
    const { message } = await here.copy(TEXT, { DISPLAY: ":7" });
    expect(message).toBe(
      "Sent 16 characters to the terminal (OSC 52), because of xclip: Error: Can't open display: :7. Not all terminals copy it.",
    );
  });

  it("fails on a terminal that has no clipboard, and says what to do", async () => {
    const here = desktop();
    expect(await here.copy(TEXT, { TERM: "linux" })).toEqual({
      isCopied: false,
      message: "Not copied: no clipboard program was found. x writes a file instead.",
    });
    expect((await here.copy(TEXT, { TERM: "linux", WAYLAND_DISPLAY: "w" })).message).toContain("Install wl-clipboard");
    expect(here.sent).toEqual([]);
  });

  it("ends though the program reads nothing of a large text", async () => {
    const here = desktop().install("wl-copy", "exit 3");
    const { message } = await here.copy("x".repeat(5_000_000), { WAYLAND_DISPLAY: "w", PATH: `${here.folder}${delimiter}/nowhere` });
    expect(message).toContain("because of wl-copy: exit 3");
  });
});
