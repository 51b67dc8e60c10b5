import { type Editor, editorOf } from "./editor.js";

/** Something that can be taken in place of what is typed. */
export interface Completion {
  readonly insert: string;
  readonly shown: string;
  readonly help: string;
}

/** What completions are made from. */
export interface CompletionSource {
  readonly commands: readonly { readonly name: string; readonly args: string; readonly help: string }[];
}

/** The commands that what is typed may become: those that begin so, then those that contain it. Only for a first word. */
export function completionsOf(text: string, cursor: number, { commands }: CompletionSource): readonly Completion[] {
  if (cursor !== text.length || !/^\/[\w-]*$/.test(text)) return [];
  const typed = text.slice(1).toLowerCase();
  const beginning = commands.filter(({ name }) => name.startsWith(typed));
  const inside = typed === "" ? [] : commands.filter(({ name }) => !name.startsWith(typed) && name.includes(typed));
  return [...beginning, ...inside].map(({ name, args, help }) => ({
    insert: args === "" ? `/${name}` : `/${name} `,
    shown: args === "" ? `/${name}` : `/${name} ${args}`,
    help,
  }));
}

/** The editor with a completion in place of its text. */
export function completed(editor: Editor, { insert }: Completion): Editor {
  return { ...editorOf(insert), killed: editor.killed };
}
