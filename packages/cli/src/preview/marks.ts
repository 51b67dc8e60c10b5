import { type Glyphs, glyphsFor } from "../terminal/glyphs.js";

/** The signs a preview is drawn with where none are given: Unicode. */
export const UNICODE_GLYPHS: Glyphs = glyphsFor({});

/** What previews draw beside the signs that trees are made of. */
export interface Marks {
  readonly bullet: string;
  /** Beside quotes, and between columns. */
  readonly bar: string;
  /** One column of a horizontal line. */
  readonly rule: string;
  /** Where a bar meets a horizontal line. */
  readonly cross: string;
  readonly ellipsis: string;
  readonly to: string;
}

const ASCII = /^[\x20-\x7e]*$/;

/** The marks that go with these glyphs: ASCII where they are. */
export function marksOf({ through, ellipsis, to }: Glyphs): Marks {
  const signs = ASCII.test(through) ? { bullet: "-", bar: "|", rule: "-", cross: "+" } : { bullet: "•", bar: "│", rule: "─", cross: "┼" };
  return { ...signs, ellipsis, to };
}
