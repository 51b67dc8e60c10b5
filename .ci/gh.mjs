// Finds the gh of GitHub for the test of gists: one of PATH, or else, for root on Debian, the package `gh`, which it installs.
import { findProgram, installPackages } from "./apt.mjs";

/** The path of gh. @throws {Error} it is not there; the message says what to do. */
export function findGh() {
  const installed = findProgram("gh") ?? (installPackages(["gh"]) ? findProgram("gh") : undefined);
  if (installed === undefined) throw new Error("The test of shared gists needs gh of GitHub: install the package gh.");
  return installed;
}
