/** A count with separators: `12,345`. Not by `Intl.NumberFormat`, which takes 10 ms to load. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ",");
}

/** A count and its noun: `1 entry`, `12 entries`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A size in bytes: `830 B`, `12.3 kB`, `4.1 MB` (decimal units). */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const [size, unit] = value < 1e6 ? [value / 1e3, "kB"] : value < 1e9 ? [value / 1e6, "MB"] : [value / 1e9, "GB"];
  return `${size.toFixed(1)} ${unit}`;
}

/** US dollars, with two decimals, or four below $10. */
export function dollars(value: number): string {
  return `$${value.toFixed(value < 10 ? 4 : 2)}`;
}
