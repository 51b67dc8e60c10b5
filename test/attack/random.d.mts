/** Numbers that a seed repeats. */
export interface Random {
  /** A whole number from 0 up to `limit`. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  readonly chance: (share: number) => boolean;
}

export function randomOf(seed: number): Random;
