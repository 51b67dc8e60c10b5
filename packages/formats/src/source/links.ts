import type { Stats } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** True if a path is the folder or in it. Both are absolute; links are not followed. */
export function isAtOrBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A folder in which links are found: its real path and the file system that it is on. */
export interface LinkBase {
  readonly real: string;
  readonly dev: number;
}

/** Folders of the system in which each file is a view of a process or a device. */
const SYSTEM = ["/proc", "/sys", "/dev", "/run"];

/** The number of folders and files that are visited behind one link that leaves the folder. */
export const MAX_LINKED = 10_000;

/**
 * Returns the reason why a link is not followed; undefined: it is. A link must not extend an import to the whole disk: it may lead anywhere
 * in the folder, and out of it to another folder of the same file system that does not contain the folder.
 *
 * @param target the real path to which it leads; the second parameter is the file status of it.
 */
export function whyNotFollowed(target: string, { dev }: Pick<Stats, "dev">, base: LinkBase): string | undefined {
  if (isAtOrBelow(target, base.real)) return undefined;
  if (isAtOrBelow(base.real, target)) return `the link leads to ${target}, which contains this folder`;
  if (SYSTEM.some((folder) => isAtOrBelow(target, folder) && !isAtOrBelow(base.real, folder)))
    return `the link leads to ${target}, which belongs to the system`;
  if (dev !== base.dev) return `the link leads to ${target}, on another file system`;
  return undefined;
}
