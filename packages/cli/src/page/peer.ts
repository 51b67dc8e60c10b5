import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** The kernel's lists of connections, where it has them: Linux. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * True if a connection over loopback comes from a process of another user of this machine. Root may read everything anyway. Where the
 * system does not say whose a connection is, the secret in the address has to be enough, and this is false.
 */
export async function isOfAnotherUser({ remotePort, localPort }: Pick<Socket, "remotePort" | "localPort">): Promise<boolean> {
  const own = process.getuid?.();
  if (own === undefined || remotePort === undefined || localPort === undefined) return false;
  for (const table of TABLES) {
    const owner = ownerIn(await readTable(table), remotePort, localPort);
    if (owner !== undefined) return owner !== own && owner !== 0;
  }
  return false;
}

/** The user of the end of a connection that has the port `from`; undefined: the table does not have it. */
export function ownerIn(table: string, from: number, to: number): number | undefined {
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", remote = "", , , , , owner] = line.trim().split(/\s+/);
    if (owner !== undefined && portOf(local) === from && portOf(remote) === to) return Number(owner);
  }
  return undefined;
}

/** The port of an address in the table, such as `0100007F:1F90`. */
function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return ""; // another system, or a container that hides it
  }
}
