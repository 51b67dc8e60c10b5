// In place of Ink's own `Output`, where the command is bundled. Ink composes a screen character by character, each an
// object with its styles: 20 ms for 120 × 40, 90 ms for 300 × 100, at every key. Bough's screens are lines one below the
// other that fit the width already and never overlap, so putting them together is joining them.
// Written for Ink 6.8 (`build/output.js`, same methods); the end-to-end tests run on it.
export default class Output {
  #lines;

  constructor({ height }) {
    this.#lines = Array.from({ length: height }, () => "");
  }

  write(x, y, text, { transformers }) {
    if (text === "") return;
    for (const [at, line] of text.split("\n").entries()) {
      const shown = transformers.reduce((now, transform) => transform(now, at), line);
      if (this.#lines[y + at] !== undefined) this.#lines[y + at] += `${x > 0 && this.#lines[y + at] === "" ? " ".repeat(x) : ""}${shown}`;
    }
  }

  // Clipping is for boxes with overflow; there are none.
  clip() {}
  unclip() {}

  get() {
    return { output: this.#lines.map((line) => line.trimEnd()).join("\n"), height: this.#lines.length };
  }
}
