// Data: what terminals send for keys that type nothing. Source: xterm's ctlseqs, and rxvt and the Linux console where
// they differ; the same keys as in terminfo.

/** Final letters of `ESC [ … X` and `ESC O X`. */
export const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "clear",
  F: "end",
  H: "home",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "shift+tab",
  // rxvt: small letters with Shift (`ESC [`) or Ctrl (`ESC O`).
  a: "up",
  b: "down",
  c: "right",
  d: "left",
};

/** Numbers of `ESC [ N ~`. */
export const NUMBER_KEYS: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

/** Code points that have a name rather than a character. */
export const NAMED_CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
};
