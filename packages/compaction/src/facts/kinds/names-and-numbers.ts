const QUOTED = /`([^`\n]{2,80})`/g;
const NAME = /^[#$@.]?[\p{L}\p{N}_][^\s`"']*$/u;

/** The identifiers in backticks of a prose: no files, no commands, nothing with a space. Linear. */
export function identifiersIn(prose: string): readonly string[] {
  return [...prose.matchAll(QUOTED)].flatMap(([, given = ""]) => {
    const name = given.trim().replace(/\(\)$/, "");
    return name.length > 1 && NAME.test(name) && /\p{L}/u.test(name) ? [name] : [];
  });
}

const UNITS =
  "ms|µs|ns|s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|%|percent|[kKMGT]i?B|bytes?|tokens?|lines?|tests?|files?|rows?|columns?|entries|px|fps|chars?|characters?|bits?|errors?|warnings?|failures?|passed|failed|passing|failing|messages?|requests?|workers?|req\\/s|[kMG]?Hz|°C|[kMG]bit\\/s|users?|USD|EUR|€";
const NUMBER = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.,/+#:=$-])(\d{1,9}(?:,\d{3}){0,4}(?:\.\d{1,9})?)[ \u00a0-]?(${UNITS})(?![\p{L}\p{N}_/+=-])`,
  "gu",
);

/** The numbers with a unit in a prose, as `14 tests` or `16,384 tokens`. A number in data or in code has no unit behind it. Linear. */
export function numbersIn(prose: string): readonly string[] {
  return [...prose.matchAll(NUMBER)].map(([, number = "", unit = ""]) =>
    /^[\w€]/.test(unit) && unit.length > 2 ? `${number} ${unit}` : `${number}${unit}`,
  );
}
