/** A path with `~` for the home directory. */
export function shortDirectory(path: string, home: string | undefined): string {
  if (home === undefined || home === "" || home === "/") return path;
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
