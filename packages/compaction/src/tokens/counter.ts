/** Counts the tokens of texts as one vocabulary cuts them. */
export interface TokenCounter {
  /** Names its counts in the store's cache: another name whenever a count can differ. */
  readonly name: string;
  /** Tokens of a text. Special-token text is text. Cost is linear, whatever the text. */
  count(text: string): number;
}
