import { InvalidArgumentError } from "commander";

/** A whole number above zero, as an option's value. */
export function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number above zero.");
  return value;
}

/** The width of a drawing: below 20 columns nothing can be read. */
export function width(text: string): number {
  const value = positive(text);
  if (value < 20) throw new InvalidArgumentError("It must be at least 20.");
  return value;
}
