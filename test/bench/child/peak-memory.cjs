// Loaded before a measured program: at its end it writes the most memory it ever had resident, in bytes, to file 3.
// Not `resourceUsage().maxRSS` where it can be helped: Linux counts the parent's memory into it across fork and exec.
const { readFileSync, writeSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

if (isMainThread)
  process.on("exit", () => {
    writeSync(3, String(peakBytes()));
  });

function peakBytes() {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
