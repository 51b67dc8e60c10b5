// Colours and cursor moves of terminals; then what is left of control characters, and marks that turn the direction of
// what follows, with which a text can be made to read other than it is. Each pattern starts at one character and stops
// before the next such one, so the cost is linear.
const ESCAPE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text as a model or a screen may read it: line breaks as \n, no control characters but those and tabs, no half surrogate pair. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(ESCAPE, "").replace(CONTROL, "").toWellFormed();
}
