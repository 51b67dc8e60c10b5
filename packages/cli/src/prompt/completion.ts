import type { Editor } from "./editor.js";
export interface Completion {
  readonly insert: string;
  readonly shown: string;
  readonly help: string;
}
export interface CompletionSource {
  readonly commands: readonly { readonly name: string; readonly args: string; readonly help: string }[];
  readonly argumentsOf?: (command: string, typed: string) => readonly Completion[];
}
export function completionsOf(text: string, cursor: number, source: CompletionSource): readonly Completion[] {
  if (!/^\/[\w-]*$/.test(text) || cursor !== text.length) return [];
  const name = text.slice(1);
  return source.commands
    .filter((one) => one.name.startsWith(name))
    .map((one) => ({ insert: `/${one.name}${one.args === "" ? "" : " "}`, shown: `/${one.name} ${one.args}`, help: one.help }));
}
export function completed(editor: Editor, completion: Completion): Editor {
  return { ...editor, text: completion.insert, cursor: completion.insert.length };
}
