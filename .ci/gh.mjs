// Finds the gh of GitHub for the test of gists: one of PATH, or else, for root on Debian, the package `gh`, which it installs.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages } from "./apt.mjs";

function find() {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "gh"))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The path of gh. @throws {Error} it is not there; the message says what to do. */
export function findGh() {
  const installed = find() ?? (installPackages(["gh"]) ? find() : undefined);
  if (installed === undefined) throw new Error("The test of shared gists needs gh of GitHub: install the package gh.");
  return installed;
}
