import { BoughError } from "@bough/session-core";

/** The framework that an adapter needs is not installed. `hint` has the command that installs it. */
export class FrameworkMissingError extends BoughError {
  readonly code = "FRAMEWORK_MISSING";
  /** The package that was not found, with the range of versions that fit. */
  readonly framework: string;

  constructor(framework: string, range: string, options?: { cause: unknown }) {
    super(`The package ${framework} is not installed; this adapter needs it.`, { ...options, hint: `npm install "${framework}@${range}"` });
    this.framework = framework;
  }
}

/** The installed framework has a version that the adapter does not know. */
export class FrameworkVersionError extends BoughError {
  readonly code = "FRAMEWORK_VERSION";
  readonly framework: string;

  constructor(framework: string, range: string, missing: string) {
    super(`The installed version of ${framework} does not fit this adapter: it has no ${missing}.`, {
      hint: `npm install "${framework}@${range}"`,
    });
    this.framework = framework;
  }
}

/** A framework that an adapter needs: its package, the versions that fit, and the names that the adapter uses. */
export interface Framework<M> {
  readonly name: string;
  readonly range: string;
  readonly uses: readonly (keyof M & string)[];
}

/**
 * Makes sure that the framework of an adapter, which is an optional peer, is installed in a version that fits.
 *
 * @throws {FrameworkMissingError} it is not installed.
 * @throws {FrameworkVersionError} it lacks a name that the adapter uses.
 */
export async function requireFramework<M extends object>(framework: Framework<M>, load: () => Promise<M>): Promise<void> {
  let module: M;
  try {
    module = await load();
  } catch (error) {
    if (isMissing(error, framework.name)) throw new FrameworkMissingError(framework.name, framework.range, { cause: error });
    const subpath = missingSubpath(error, framework.name);
    throw subpath === undefined ? error : new FrameworkVersionError(framework.name, framework.range, subpath);
  }
  const missing = framework.uses.find((name) => !(name in module));
  if (missing !== undefined) throw new FrameworkVersionError(framework.name, framework.range, missing);
}

function isMissing(error: unknown, name: string): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}

/** The subpath that a package of another version does not export. */
function missingSubpath(error: unknown, name: string): string | undefined {
  if (!(error instanceof Error && "code" in error && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED")) return undefined;
  const [, subpath, file = ""] = /'\.\/(.+?)' is not defined by "exports" in (.+?package\.json)/.exec(error.message) ?? [];
  return file.replaceAll("\\", "/").endsWith(`/${name}/package.json`) ? subpath : undefined;
}
