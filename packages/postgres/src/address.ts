import { existsSync, readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { InvalidArgumentError } from "@bough/session-core";
import { errorCode, isServerUrl } from "@bough/session-core/engine";

export type { Tls };

/**
 * The address of a store: its url, completed by the environment variables of libpq (PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD,
 * PGSSLMODE …).
 */
export interface ServerAddress {
  /** A name, an address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Returns the password; a function, so that no dump of an object shows it. */
  readonly password: () => Promise<string | undefined>;
  readonly tls: Tls;
  /** `postgres://ada@db.example.com:5432/agents`: for messages. It never has the password. */
  readonly label: string;
  readonly schema: string | undefined;
  readonly tenant: string | undefined;
  /** A role that is trusted as the owner of the tables, beside those of migrate.ts. */
  readonly owner: string | undefined;
  /**
   * True if the server keeps statements prepared. Not possible behind a pooler that changes the connection after each transaction and
   * does not track prepared statements.
   */
  readonly prepare: boolean;
  readonly applicationName: string;
  /** undefined: none was given. */
  readonly connectTimeoutMs: number | undefined;
  readonly channelBinding: boolean;
}

/** A url without its password and parameters, for messages; also one that is not complete. A text that is none is returned as it is. */
export function withoutPassword(url: string): string {
  if (!isServerUrl(url)) return url;
  // The last @ ends the password: one that is not encoded can contain every other mark.
  const address = url.replace(/^(\w+:\/\/[^/:@?#]*):.*@/s, "$1@").replace(/[?#].*$/s, "");
  return address.replace(/^(\w+:\/\/[^/:@]*):(?!\d{1,5}(?:\/|$)).*$/s, "$1");
}

/** A url without its password and with its parameters, to be repeated in a command. */
export function urlWithoutPassword(url: string): string {
  const parts = partsOf(url);
  if (parts === null) return withoutPassword(url);
  const [, login = "", place = "", path, query = ""] = parts;
  const user = login.replace(/:.*$/s, "");
  const kept = query.split("&").filter((part) => part !== "" && !part.startsWith("password="));
  const address = `postgres://${user === "" ? "" : `${user}@`}${place}${path === undefined ? "" : `/${path}`}`;
  return kept.length === 0 ? address : `${address}?${kept.join("&")}`;
}

/** The passwords that a url contains, as they are written there and decoded. */
export function passwordsIn(url: string): readonly string[] {
  const [, login = "", , , query = ""] = partsOf(url) ?? [];
  const colon = login.indexOf(":");
  const named = [...query.matchAll(/(?:^|&)password=([^&]*)/g)].map(([, value = ""]) => value);
  const written = [colon < 0 ? "" : login.slice(colon + 1), ...named];
  return [...new Set(written.flatMap((text) => [text, decodedOrNot(text)]))].filter((text) => text !== "");
}

function decodedOrNot(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^/?#@]*))?(?:\?([^#]*))?$/i;

/** The parameters that a url may have after `?`. The last ones are for libpq and have no effect here. */
const PARAMETERS = [
  ...[
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "schema",
    "tenant",
    "owner",
    "prepare",
    "application_name",
    "connect_timeout",
    "channel_binding",
  ],
  ...["sslmode", "sslrootcert", "sslcert", "sslkey"],
  ...["gssencmode", "keepalives", "keepalives_idle", "target_session_attrs"],
];

/**
 * Reads a url of the form `postgres://user:password@host:port/database?name=value`; `postgresql://` is the same.
 *
 * @throws {InvalidArgumentError} it is none. The message never has a part of the url, which could be the password.
 */
export function parseServerUrl(url: string, environment: NodeJS.ProcessEnv = process.env): ServerAddress {
  const parts = partsOf(url);
  if (parts === null) throw invalid("one of another form; in a user or password, the characters : / ? # [ ] @ % are written as %3A, %2F …");
  const [, login = "", place = "", path = "", query = ""] = parts;
  const parameters = readParameters(query);
  const [user, ...secret] = login.split(":");
  const server = readPlace(place, parameters, environment);
  const name = parameters.get("user") || decoded(user ?? "") || environment["PGUSER"] || systemUser();
  const database = parameters.get("dbname") || decoded(path) || environment["PGDATABASE"] || name;
  const given = parameters.get("password") || decoded(secret.join(":")) || environment["PGPASSWORD"] || undefined;
  const own = { ...server, user: name, database };
  return {
    ...own,
    password: async () => given ?? (await passwordFromFile(own, environment)),
    tls: tlsOf(server.host, parameters, environment),
    label: labelOf(own),
    schema: parameters.get("schema"),
    tenant: parameters.get("tenant"),
    owner: parameters.get("owner"),
    prepare: flag(parameters, "prepare") ?? true,
    applicationName: parameters.get("application_name") ?? environment["PGAPPNAME"] ?? "bough",
    connectTimeoutMs: seconds(parameters.get("connect_timeout") ?? environment["PGCONNECT_TIMEOUT"]),
    channelBinding: bindsChannel(parameters, environment),
  };
}

/** The login, the place, the path and the parameters of a url; null: it has another form. */
function partsOf(url: string): RegExpExecArray | null {
  const parts = URL_PARTS.exec(url);
  // A password with a question mark that is not encoded would be taken for parameters, and shown.
  return parts?.[4]?.includes("@") === true ? null : parts;
}

function invalid(given: string): InvalidArgumentError {
  return new InvalidArgumentError("options.url", "a url of the form postgres://user@host:5432/database", given);
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((text) => text !== "")) {
    const [name = "", ...value] = part.split("=");
    if (!PARAMETERS.includes(name)) {
      throw invalid(
        `one with ${/^\w{1,40}$/.test(name) ? `the parameter ${name}` : "a parameter"} that is not known; known are ${PARAMETERS.join(", ")}`,
      );
    }
    parameters.set(name, decoded(value.join("=")));
  }
  return parameters;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid("one with a % that is not followed by two hexadecimal digits; the character % itself is written as %25");
  }
}

function readPlace(place: string, parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv) {
  if (place.includes(",")) throw invalid("one with several hosts; give the host of the server that takes writes");
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place) ?? [];
  const number = Number(parameters.get("port") || port || environment["PGPORT"] || 5432);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw invalid("one with a port that is no number from 1 to 65535");
  const name = parameters.get("host") || decoded(host.replace(/^\[|\]$/g, "")) || environment["PGHOST"] || localHost(number);
  return { host: name, port: number };
}

/** The folder of the socket of a local server on Debian and Red Hat. */
const SOCKETS = "/var/run/postgresql";

function localHost(port: number): string {
  return existsSync(`${SOCKETS}/.s.PGSQL.${port}`) ? SOCKETS : "localhost";
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "postgres";
  }
}

function flag(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === undefined || value === "true" || value === "false") return value === undefined ? undefined : value === "true";
  throw invalid(`one whose parameter ${name} is neither true nor false`);
}

function seconds(value: string | undefined): number | undefined {
  const number = Number(value || 0);
  if (!Number.isFinite(number) || number < 0) throw invalid("one whose connect_timeout is no number of seconds");
  return number === 0 ? undefined : number * 1000;
}

function labelOf({ host, port, user, database }: Pick<ServerAddress, "host" | "port" | "user" | "database">): string {
  const name = host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  const place = host.startsWith("/") ? `${encodeURIComponent(user)}@` : `${encodeURIComponent(user)}@${name}:${port}`;
  return `postgres://${place}/${encodeURIComponent(database)}${host.startsWith("/") ? `?host=${host}&port=${port}` : ""}`;
}

/** The login for which a password is looked up. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Finds the password of a login in the file `PGPASSFILE`, default `~/.pgpass`. Like libpq, ignores a file that others may read. */
async function passwordFromFile(login: Login, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
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

/** The encryption of connections. The modes are those of libpq. */
interface Tls {
  /** undefined: connections are not encrypted. */
  readonly options: ConnectionOptions | undefined;
  /** True if a server without TLS is used as well. */
  readonly optional: boolean;
}

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. Default: `prefer`, and `disable` for a server of this machine. `require` and
 * the modes before it do not verify the certificate of the server; `require` does if there is a root certificate, as in libpq.
 * `channel_binding=require` implies TLS.
 */
function tlsOf(host: string, parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): Tls {
  const root = parameters.get("sslrootcert") || environment["PGSSLROOTCERT"] || undefined;
  const mode = modeOf(host, root, parameters, environment);
  if (mode === "disable" || host.startsWith("/")) return { options: undefined, optional: false };
  const certificate = parameters.get("sslcert") || environment["PGSSLCERT"];
  const key = parameters.get("sslkey") || environment["PGSSLKEY"];
  return {
    options: {
      ...verification(mode, root),
      ...(certificate ? { cert: read("sslcert", certificate) } : {}),
      ...(key ? { key: read("sslkey", key) } : {}),
    },
    optional: mode === "allow" || mode === "prefer",
  };
}

function modeOf(host: string, root: string | undefined, parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): string {
  const isBound = bindsChannel(parameters, environment);
  const isLocal = host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127.");
  const usual = root === "system" ? "verify-full" : isLocal ? "disable" : "prefer";
  const given = parameters.get("sslmode") || environment["PGSSLMODE"] || undefined;
  const mode = given ?? usual;
  if (!MODES.includes(mode))
    throw new InvalidArgumentError("options.url", "a url with an sslmode of libpq", `one with another; known are ${MODES.join(", ")}`);
  if (!isBound) return mode;
  if (given === "disable" || host.startsWith("/"))
    throw new InvalidArgumentError("options.url", "a url with TLS where channel_binding is require", "one without");
  return OPTIONAL.includes(mode) ? "require" : mode;
}

/** The modes with which connections may not be encrypted. */
const OPTIONAL = ["disable", "allow", "prefer"];

/** True if connections must be bound to their TLS channel, which excludes a machine between the client and the server. */
function bindsChannel(parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): boolean {
  const given = parameters.get("channel_binding") || environment["PGCHANNELBINDING"] || "prefer";
  if (["disable", "prefer", "require"].includes(given)) return given === "require";
  throw new InvalidArgumentError(
    "options.url",
    "a url with a channel_binding of libpq",
    "one with another; known are disable, prefer, require",
  );
}

function verification(mode: string, root: string | undefined): ConnectionOptions {
  const file = root ?? ownRoot();
  if (mode === "verify-full") return { rejectUnauthorized: true, ...trusted(file) };
  // Anybody has a certificate of a public authority for some name; without its comparison it says nothing.
  if (file === "system") throw new InvalidArgumentError("options.url", "a url with sslmode=verify-full where sslrootcert is system", mode);
  if (mode === "verify-ca" && file === undefined)
    throw new InvalidArgumentError("options.url", "a url with sslrootcert where sslmode is verify-ca", "one without");
  const isVerified = mode === "verify-ca" || (mode === "require" && file !== undefined);
  // The name of the host is not compared.
  return isVerified ? { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...trusted(file) } : { rejectUnauthorized: false };
}

/** `system`: the authorities that Node knows. */
function trusted(root: string | undefined): ConnectionOptions {
  return root === undefined || root === "system" ? {} : { ca: read("sslrootcert", root) };
}

/** The file that libpq uses where none is given. */
function ownRoot(): string | undefined {
  const file = join(homedir(), ".postgresql", "root.crt");
  return existsSync(file) ? file : undefined;
}

function read(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = errorCode(error) ?? "unknown";
    throw new InvalidArgumentError(
      "options.url",
      `a url whose ${name} is a file that can be read`,
      `one whose file cannot be read (${reason})`,
    );
  }
}
