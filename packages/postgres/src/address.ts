import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { InvalidArgumentError } from "@bough/session-core";
import { isServerUrl } from "@bough/session-core/engine";
import { passwordFromFile } from "./password-file.js";
import { bindsChannel, type Tls, tlsOf } from "./tls.js";

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
  /** A role that is trusted as the owner of the tables, beside those of owners.ts. */
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
  const at = readPlace(place, parameters, environment);
  const name = parameters.get("user") || decoded(user ?? "") || environment["PGUSER"] || systemUser();
  const database = parameters.get("dbname") || decoded(path) || environment["PGDATABASE"] || name;
  const given = parameters.get("password") || decoded(secret.join(":")) || environment["PGPASSWORD"] || undefined;
  const own = { ...at, user: name, database };
  return {
    ...own,
    password: async () => given ?? (await passwordFromFile(own, environment)),
    tls: tlsOf(at.host, parameters, environment),
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
  const found = new Map<string, string>();
  for (const part of query.split("&").filter((text) => text !== "")) {
    const [name = "", ...value] = part.split("=");
    if (!PARAMETERS.includes(name)) {
      throw invalid(
        `one with ${/^\w{1,40}$/.test(name) ? `the parameter ${name}` : "a parameter"} that is not known; known are ${PARAMETERS.join(", ")}`,
      );
    }
    found.set(name, decoded(value.join("=")));
  }
  return found;
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
