/**
 * A pattern that is made at its first use. A class of Unicode such as `\p{L}` or a script takes V8 0.1 to 0.6 ms when the pattern is made;
 * as a constant of a module it takes them at every start. A literal in the body of a function is also made at its first use.
 */
export function patternOnUse(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}
