/** The path of gh. */
export function findGh(): string;
