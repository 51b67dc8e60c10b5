// Finds the programs of OpenSSH for the tests of copies between two machines: $SSHD, an installed sshd, or else, for root on Debian, the
// package `openssh-server`, which it installs; with ssh and ssh-keygen of the same package.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

// sshd lies outside of the PATH of most users.
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"];

function find(name) {
  return FOLDERS.filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Installs Debian's packages. Only for root: on a machine of a person nothing is installed. */
function installByApt() {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  // What the package starts is of no use here, and in a container nothing can start it.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (...args) => spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env }).status === 0;
  process.stderr.write("[sshd] Installing openssh-server by apt-get.\n");
  if (apt("update", "-qq")) apt("install", "-y", "-qq", "--no-install-recommends", "openssh-server", "openssh-client");
}

function findAll() {
  const [sshd, ssh, keygen] = [process.env["SSHD"] || find("sshd"), find("ssh"), find("ssh-keygen")];
  return sshd && ssh && keygen ? { sshd, ssh, keygen } : undefined;
}

/** The paths of sshd, ssh and ssh-keygen. @throws {Error} they are not there; the message says what to do. */
export function findOpenSsh() {
  const installed = findAll();
  if (installed !== undefined) return installed;
  installByApt();
  const found = findAll();
  if (found !== undefined) return found;
  throw new Error("The tests of copies over ssh need OpenSSH with its server: install openssh-server, or set SSHD to the path of sshd.");
}
