import { InvalidArgumentError } from "commander";

/** A whole number above zero, as an option's value. */
export function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number above zero.");
  return value;
}

/** A whole number, as an option's value. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("It must be a whole number from zero up.");
  return value;
}

/** A path as an option's value: an unset variable of a script becomes an empty word, which is no path. */
export function path(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty; name a file, or leave the option out.");
  return text;
}

/** The size of a window in tokens, or the word for that of the model. */
export function windowSize(text: string): number | "auto" {
  return text === "auto" ? text : positive(text);
}

/** The width of a drawing: below 20 columns nothing can be read. */
export function width(text: string): number {
  const value = positive(text);
  if (value < 20) throw new InvalidArgumentError("It must be at least 20.");
  return value;
}
