import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { InvalidArgumentError } from "@bough/session-core";

/** The encryption of connections. The modes are those of libpq. */
export interface Tls {
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
export function tlsOf(host: string, parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): Tls {
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
export function bindsChannel(parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): boolean {
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
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new InvalidArgumentError(
      "options.url",
      `a url whose ${name} is a file that can be read`,
      `one whose file cannot be read (${reason})`,
    );
  }
}
