import type { SourceAgent, SourceFormat } from "./source-format.js";

/** A program that writes the format of another one. */
interface RenamedFormat {
  /** The name of its format in lists and filters. */
  readonly name: string;
  readonly agent: SourceAgent;
  /** Matches the path of its files, with `/` between names: their content does not tell them from those of the other program. */
  readonly path: RegExp;
}

/** The format of a program that writes that of another one in a folder of its own. It is detected before the other one. */
export function renamedFormat(base: SourceFormat, { name, agent, path }: RenamedFormat): SourceFormat {
  return {
    ...base,
    name,
    agents: [agent],
    detects: (head, folders) => path.test(head.path.replaceAll("\\", "/")) && base.detects(head, folders),
  };
}
