/** An error as one line; what a store or a model throws may be anything. */
export function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
