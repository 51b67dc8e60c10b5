import { readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import type { ToolInput } from "./tool.js";

/** Where the `path` of a call leads. */
export interface Reach {
  /** The absolute path with every link followed, also of a file that is not there yet. It is what the tool then opens. */
  readonly target: string;
  /** Whether that is outside of the working folder, or cannot be told. */
  readonly isOutside: boolean;
}

/**
 * Where a call leads, for the tools that take a `path`; null: it names none. Where a command reaches cannot be told from its
 * text. The links are followed one by one, so that a link whose target is missing counts as what writing to it would make.
 */
export async function reachOf(input: ToolInput, cwd: string): Promise<Reach | null> {
  const path = input["path"];
  if (typeof path !== "string") return null;
  const named = resolve(cwd, path);
  try {
    const [folder, target] = [await withoutLinks(cwd), await withoutLinks(named)];
    return { target, isOutside: isBeyond(relative(folder, target)) };
  } catch (error) {
    // A folder that may not be looked into, links in a circle, a name that no file can have: the tool fails with the same.
    if (!(error instanceof Error && "code" in error)) throw error;
    return { target: named, isOutside: true };
  }
}

function isBeyond(from: string): boolean {
  return from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from);
}

/** More links than any system follows in one path. */
const MOST_LINKS = 40;

/** An absolute path with its links followed, as the system would; what is not there stays as it is named. */
export async function withoutLinks(path: string): Promise<string> {
  let at = parse(path).root;
  const rest = path.slice(at.length).split(sep);
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const leadsTo = await linkAt(next);
    if (leadsTo === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw Object.assign(new Error(`ELOOP: too many links, ${path}`), { code: "ELOOP" });
    if (isAbsolute(leadsTo)) at = parse(leadsTo).root;
    rest.unshift(...leadsTo.split(sep));
  }
  return at;
}

const NO_LINK: readonly unknown[] = ["EINVAL", "ENOENT", "ENOTDIR"];

/** Where a link leads; undefined: it is no link, or not there. */
async function linkAt(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && NO_LINK.includes(error.code)) return undefined;
    throw error;
  }
}
