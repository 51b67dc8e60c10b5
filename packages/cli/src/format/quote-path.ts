/** A path as an argument of a POSIX shell, quoted if it must be. */
export function quotePath(path: string): string {
  return /^[\w/.:@~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
