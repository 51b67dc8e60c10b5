import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * The options of a program of this repository. `--help` prints the comment at the head of its file and ends the process; so does, with
 * exit code 2 and one line, what the program does not take.
 *
 * @param {string} program `import.meta.url` of its file
 * @param {import("node:util").ParseArgsConfig["options"]} options
 */
export function readOptions(program, options) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: "boolean", default: false } } });
    if (!values.help) return values;
  } catch (error) {
    refuse(`${error.message.split("\n")[0]} --help lists the options.`);
  }
  const [comment = ""] = /^(?:\/\/.*\n)+/m.exec(readFileSync(fileURLToPath(program), "utf8")) ?? [];
  process.stdout.write(comment.replace(/^\/\/ ?/gm, ""));
  process.exit(0);
}

/**
 * Ends the process with exit code 2 and this line: the program does not take what it was given.
 *
 * @param {string} problem
 */
export function refuse(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}
