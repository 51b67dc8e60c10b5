import type { Stats } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is the folder or in it. Both are absolute; links are not followed. */
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

/** Folders and files that are looked at behind one link that leaves the folder. */
export const MAX_LINKED = 10_000;

/**
 * Why a link is not followed; undefined: it is. A link must not make a folder of sessions into the whole disk: it may lead anywhere in
 * the folder, and out of it to another folder of the same file system that does not contain the folder.
 *
 * @param target the real path to which it leads, and what is there.
 */
export function whyNotFollowed(target: string, { dev }: Pick<Stats, "dev">, base: LinkBase): string | undefined {
  if (isAtOrBelow(target, base.real)) return undefined;
  if (isAtOrBelow(base.real, target)) return `the link leads to ${target}, which contains this folder`;
  if (SYSTEM.some((folder) => isAtOrBelow(target, folder) && !isAtOrBelow(base.real, folder)))
    return `the link leads to ${target}, which belongs to the system`;
  if (dev !== base.dev) return `the link leads to ${target}, on another file system`;
  return undefined;
}
