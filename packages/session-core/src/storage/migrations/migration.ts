/** One numbered step of the schema. Never edited once shipped: a later change is another step. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}
