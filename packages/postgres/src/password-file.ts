import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** The login for which a password is looked up. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Finds the password of a login in the file `PGPASSFILE`, default `~/.pgpass`; undefined if there is none. Like libpq, ignores a file that others may read. */
export async function passwordFromFile(login: Login, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = environment["PGPASSFILE"] || defaultFile(environment);
  const text = await readPrivate(file);
  for (const line of text.split(/\r?\n/)) {
    const password = line.startsWith("#") ? undefined : passwordOf(line, login);
    if (password !== undefined) return password;
  }
  return undefined;
}

function defaultFile(environment: NodeJS.ProcessEnv): string {
  if (process.platform === "win32") return join(environment["APPDATA"] ?? homedir(), "postgresql", "pgpass.conf");
  return join(environment["HOME"] ?? homedir(), ".pgpass");
}

async function readPrivate(file: string): Promise<string> {
  try {
    const about = await stat(file);
    const isPrivate = process.platform === "win32" || (about.mode & 0o077) === 0;
    return about.isFile() && isPrivate ? await readFile(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** A line is `host:port:database:user:password`; a field `*` matches everything, a backslash keeps a colon or backslash as it is. */
function passwordOf(line: string, login: Login): string | undefined {
  const fields = line.match(/(?:^|:)(?:\\.|[^:\\])*/g)?.map((field, at) => field.slice(at === 0 ? 0 : 1).replace(/\\(.)/g, "$1")) ?? [];
  if (fields.length < 5) return undefined;
  const isSocket = login.host.startsWith("/");
  const wanted = [isSocket ? "localhost" : login.host, String(login.port), login.database, login.user];
  const fits = wanted.every((want, at) => fields[at] === "*" || fields[at] === want || (at === 0 && fields[at] === login.host));
  return fits ? fields.slice(4).join(":") : undefined;
}
