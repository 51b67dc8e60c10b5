/** The URL of a server that may have a password; what follows it in an argument belongs to it. */
const SERVER_URL = /(postgres(?:ql)?:\/\/).*(?::|password).*/is;

/**
 * The command line that the list of processes shall show in place of the real one; undefined: the real one has no URL of a server with a
 * password. Until the process has set it, its real command line can be seen.
 */
export function shownCommandLine(args: readonly string[]): string | undefined {
  const shown = args.map((arg) => arg.replace(SERVER_URL, "$1..."));
  return shown.every((arg, at) => arg === args[at]) ? undefined : ["bough", ...shown].join(" ");
}
