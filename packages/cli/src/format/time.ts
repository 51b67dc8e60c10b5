const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS: readonly (readonly [unit: string, ms: number])[] = [
  ["y", 365 * DAY],
  ["mo", 30 * DAY],
  ["w", 7 * DAY],
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
];

/** The age of a time in one unit: `5m`, `3h`, `2d`, `4mo`; `now` below a minute and for future times. */
export function age(atMs: number, nowMs: number): string {
  const passed = nowMs - atMs;
  for (const [unit, ms] of STEPS) if (passed >= ms) return `${Math.floor(passed / ms)}${unit}`;
  return "now";
}

/** Date and time in the local time zone: `2025-11-21 14:05`; empty for an invalid time. */
export function dateTime(atMs: number): string {
  const at = new Date(atMs);
  if (Number.isNaN(at.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const RELATIVE = /^(\d+)(m|h|d|w|mo|y)$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Parses `2025-11-21`, `2025-11-21T14:05`, or an age such as `3d` or `12h`, to milliseconds since 1970; undefined: invalid. A date
 * alone is its midnight in the local time zone.
 */
export function parseTime(text: string, nowMs: number): number | undefined {
  const [, count, unit] = RELATIVE.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (STEPS.find(([name]) => name === unit)?.[1] ?? 0);
  if (!DATE.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const at = Date.parse(text.length === 10 ? `${text}T00:00` : text);
  return Number.isNaN(at) ? undefined : at;
}

/** False for a day that no month has, such as 2025-02-31, which is parsed as the 3rd of March. */
function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}
