export const KEYS: readonly [undefined, string, string];
