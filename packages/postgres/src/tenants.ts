// Row-level security: each table shows and takes only rows of the tenant in the setting `bough.tenant`. It holds for roles that neither
// own the tables nor have BYPASSRLS, and so it does not stand in the way of the owner's pg_dump.

const IS_OWN = "tenant = current_setting('bough.tenant', true)";

/** The statements that secure a table. A partition has no policy, so that other roles reach its rows only through the table. */
export function secured(name: string, partitions: number): readonly string[] {
  const parts = Array.from({ length: partitions }, (_, part) => `ALTER TABLE ${name}_${part} ENABLE ROW LEVEL SECURITY`);
  return [
    `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`,
    `CREATE POLICY own_tenant ON ${name} USING (${IS_OWN}) WITH CHECK (${IS_OWN})`,
    ...parts,
  ];
}
