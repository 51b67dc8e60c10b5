export function killed(
  script: string,
  given: readonly string[],
  when: { readonly lines: number; readonly word?: string; readonly delayMs?: number },
): Promise<{ readonly output: readonly string[]; readonly signal: NodeJS.Signals | null }>;
