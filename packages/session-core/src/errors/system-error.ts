/** The code of an error of Node or the operating system (`ENOENT`, `ERR_INVALID_ARG_VALUE`); undefined: it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True if a call of the operating system failed: its error has a code and names the call. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return errorCode(error) !== undefined && error instanceof Error && "syscall" in error;
}
