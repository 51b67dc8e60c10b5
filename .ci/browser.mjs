// Prints the path of a Chromium for the tests of the HTML page: $CHROMIUM, an installed Chromium or Chrome, or else, for root on
// Debian, the package `chromium`, which it installs.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages } from "./apt.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "chrome.exe", "msedge.exe"];

const FOLDERS = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].map((name) =>
    join(process.env[name] ?? "", "Google/Chrome/Application/chrome.exe"),
  ),
];

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function findInstalled() {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const named = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...named, ...FOLDERS].find(isProgram);
}

/** The path of a Chromium. @throws {Error} there is none; the message says what to do. */
export function findChromium() {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && given !== "") {
    if (isProgram(given)) return given;
    throw new Error(`CHROMIUM=${given} is no program.`);
  }
  const found = findInstalled() ?? (installPackages(["chromium"]) ? findInstalled() : undefined);
  if (found !== undefined) return found;
  throw new Error("The tests of the HTML page need Chromium or Chrome: install one, or set CHROMIUM to its path.");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${findChromium()}\n`);
