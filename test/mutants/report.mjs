/** The result of a mutation run as the page docs/mutation.md: a table by folder, and each mutant that no test noticed. */
export function report({ seed, samples, survivors, placeOf }) {
  const rows = samples.map(({ folder, all, chosen }) => {
    const survived = survivors.filter((mutant) => mutant.folder === folder).length;
    return row(folder, all, chosen.length, chosen.length - survived);
  });
  const tried = samples.reduce((sum, { chosen }) => sum + chosen.length, 0);
  const total = row(
    "**all**",
    samples.reduce((sum, { all }) => sum + all, 0),
    tried,
    tried - survivors.length,
  );
  const lines = survivors.map((mutant) => {
    const { source, start, end, text } = mutant;
    const from = source.lastIndexOf("\n", start) + 1;
    const to = source.indexOf("\n", end);
    const line = `${source.slice(from, start)}⟦${source.slice(start, end)} → ${text}⟧${source.slice(end, to)}`;
    return `- \`${placeOf(mutant)}\` (${mutant.what}):\n\n  \`\`\`ts\n  ${line.trim().replaceAll("\n", "\n  ")}\n  \`\`\``;
  });
  return [
    "# Mutation score",
    "",
    "`npm run test:mutants -- --write` breaks the deciding code of the packages one place at a time and counts how often a test fails.",
    `It is not part of CI. This page was written by a run with seed ${seed}; the same seed on the same sources takes the same sample.`,
    "",
    "| folder | possible mutants | tried | noticed by a test | score |",
    "|---|--:|--:|--:|--:|",
    ...rows,
    total,
    "",
    "## Mutants that no test noticed",
    "",
    ...(lines.length === 0 ? ["None."] : lines.sort()),
    "",
  ].join("\n");
}

function row(folder, all, tried, noticed) {
  const score = tried === 0 ? "–" : `${Math.round((noticed / tried) * 100)} %`;
  return `| ${folder} | ${all} | ${tried} | ${noticed} | ${score} |`;
}
