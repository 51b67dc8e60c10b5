/** A place in the list of what was sent before, and what was being typed when it was left. */
export interface HistoryPlace {
  readonly at: number;
  readonly draft: string;
}
