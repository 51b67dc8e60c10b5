// A part of a page of docs that a program writes, between two comments of HTML.

/**
 * The page with another text in the part, an empty line on each side.
 *
 * @param {string} page
 * @param {string} program The command that writes the part, as in its first comment: `settings: written by node .ci/settings.mjs`.
 * @param {string} text
 */
export function withPart(page, program, text) {
  const start = `<!-- ${program} -->`;
  const end = `<!-- end of ${program.split(":")[0]} -->`;
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`The page has no part ${start} … ${end}.`);
  return `${page.slice(0, from)}${start}\n\n${text}\n\n${page.slice(to)}`;
}
