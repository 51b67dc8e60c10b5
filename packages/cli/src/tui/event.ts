/** What a person does at a terminal. */
export type TerminalEvent = KeyEvent | PasteEvent | ResizeEvent;

/**
 * A key by its name: `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `enter`, `tab`, `escape`,
 * `backspace`, `delete`, `space`; a character as it was typed (`a`, `G`, `?`, `é`, `你`); with `ctrl+`, `alt+` and, where the
 * terminal tells, `shift+` before it, in that order (`ctrl+left`, `alt+enter`, `shift+tab`). A capital letter is the
 * letter itself: `G`, not `shift+g`.
 */
export interface KeyEvent {
  readonly kind: "key";
  readonly key: string;
  /** What it types into a field; undefined: it is a command key. */
  readonly text?: string | undefined;
  /** It came in one piece with other keys: typed before anybody read it, or pasted by a terminal that does not say so. */
  readonly isBurst?: boolean | undefined;
}

/** Text that was pasted, newlines as `\n`. It is never taken for keys. */
export interface PasteEvent {
  readonly kind: "paste";
  readonly text: string;
}

/** The terminal has this size now. Sent once before the first frame too. */
export interface ResizeEvent {
  readonly kind: "resize";
  readonly size: Size;
}

/** What a screen may draw on, in characters: the terminal without its last line, which stays free. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}
