import type { Io } from "./io.js";

/** The variables with the key of the store, of the target of a copy, and of a store whose key is changed. Each has a command beside it. */
export type KeyVariable = "BOUGH_KEY" | "BOUGH_TO_KEY" | "BOUGH_NEW_KEY";

const KEY_VARIABLES: ReadonlySet<string> = new Set<KeyVariable>(["BOUGH_KEY", "BOUGH_TO_KEY", "BOUGH_NEW_KEY"]);

/** The variable with the password of an encrypted page, for scripts. */
export const PASSWORD_VARIABLE = "BOUGH_PAGE_PASSWORD";

/** The variable with the command that prints a key. */
export function commandVariable(variable: KeyVariable): string {
  return `${variable}_COMMAND`;
}

/** The environment for programs that do not need the key of a store: an editor, a pager, git. */
export function withoutKeys(env: Io["env"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEY_VARIABLES.has(name)));
}

/** The environment for programs that a model starts: without keys, and without the commands that print them. */
export function withoutKeyCommands(env: Io["env"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(withoutKeys(env)).filter(([name]) => !KEY_VARIABLES.has(name.replace(/_COMMAND$/, ""))));
}

/** The password of pages in an environment. */
export function pagePasswordsIn({ [PASSWORD_VARIABLE]: password = "" }: Io["env"]): readonly string[] {
  return password === "" ? [] : [password];
}

/** The keys in an environment. */
export function keysIn(env: Io["env"]): readonly string[] {
  return [...KEY_VARIABLES].flatMap((variable) => env[variable] ?? []).filter((key) => key !== "");
}
