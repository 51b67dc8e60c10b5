import { createProgram } from "../../src/program/program.js";
import { Printer } from "../../src/terminal/printer.js";
import { quietIo } from "../quiet-io.js";

/** The names of all commands but `help`. */
export function commandNames(): readonly string[] {
  const io = quietIo("/", { isTerminal: false });
  return createProgram(io, new Printer(io), { out: "", err: "" })
    .commands.map((command) => command.name())
    .filter((name) => name !== "help" && !name.startsWith("__"));
}
