import { spawn } from "node:child_process";

/**
 * Starts a script, kills it `delayMs` after it has printed `lines` lines or the line `word`, and returns all lines that it printed, with
 * the signal that ended it (null: it ended by itself before).
 */
export function killed(script, given, { lines, word, delayMs = 0 }) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [script, ...given], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    let timer;
    child.stdout.on("data", (data) => {
      output += data;
      const printed = output.split("\n").slice(0, -1);
      if (timer === undefined && (printed.length >= lines || printed.includes(word))) {
        const kill = () => child.kill("SIGKILL");
        // A timer of no time would still let the process go on for a millisecond.
        if (delayMs === 0) kill();
        timer = setTimeout(kill, delayMs);
      }
    });
    child.on("close", (_code, signal) => {
      clearTimeout(timer);
      done({ output: output.split("\n").slice(0, -1), signal });
    });
  });
}
