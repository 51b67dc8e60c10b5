// Finds the programs of OpenSSH for the tests of copies between two machines: $SSHD, an installed sshd, or else, for root on Debian, the
// package `openssh-server`, which it installs; with ssh and ssh-keygen of the same package.
import { findProgram, installPackages } from "./apt.mjs";

// sshd lies outside of the PATH of most users.
const MORE_FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"];

function findAll() {
  const find = (name) => findProgram(name, MORE_FOLDERS);
  const [sshd, ssh, keygen] = [process.env["SSHD"] || find("sshd"), find("ssh"), find("ssh-keygen")];
  return sshd && ssh && keygen ? { sshd, ssh, keygen } : undefined;
}

/** The paths of sshd, ssh and ssh-keygen. @throws {Error} they are not there; the message says what to do. */
export function findOpenSsh() {
  const installed = findAll();
  if (installed !== undefined) return installed;
  // What the package starts is of no use here, and in a container nothing can start it.
  installPackages(["openssh-server", "openssh-client"], { RUNLEVEL: "1" });
  const found = findAll();
  if (found !== undefined) return found;
  throw new Error("The tests of copies over ssh need OpenSSH with its server: install openssh-server, or set SSHD to the path of sshd.");
}
