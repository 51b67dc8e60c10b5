import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { InvalidArgumentError } from "../errors/bough-error.js";

/** Whether connections are encrypted. The modes are those of libpq. */
export interface Tls {
  /** undefined: connections are not encrypted. */
  readonly options: ConnectionOptions | undefined;
  /** Whether a server without TLS is used as well. */
  readonly optional: boolean;
}

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. Default: `prefer`, and `disable` for a server of this machine. `require` and
 * the modes before it do not verify the certificate of the server, unless `sslrootcert` is given.
 */
export function tlsOf(host: string, parameters: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): Tls {
  const isLocal = host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127.");
  const mode = parameters.get("sslmode") || environment["PGSSLMODE"] || (isLocal ? "disable" : "prefer");
  if (!MODES.includes(mode))
    throw new InvalidArgumentError("options.url", "a url with an sslmode of libpq", `one with another; known are ${MODES.join(", ")}`);
  if (mode === "disable" || host.startsWith("/")) return { options: undefined, optional: false };
  const root = parameters.get("sslrootcert") || environment["PGSSLROOTCERT"];
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

function verification(mode: string, root: string | undefined): ConnectionOptions {
  if (mode === "verify-full") return { rejectUnauthorized: true, ...trusted(root ?? ownRoot()) };
  const isVerified = mode === "verify-ca" || (mode === "require" && root !== undefined);
  // The name of the host is not compared.
  return isVerified
    ? { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...trusted(root ?? ownRoot()) }
    : { rejectUnauthorized: false };
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
