import { NAVIGATOR_KEYS } from "../navigator/keys.js";
import { PICKER_KEYS } from "../picker/keys.js";
import { SHELL_KEYS } from "../shell/keys.js";
import { SLASH_COMMANDS } from "../shell/slash-commands.js";
import { type KeyTable, keyName } from "../tui/key-table.js";

/** `docs/navigator.md`: the shell, its tree and its picker, with their keys as the code has them. */
export function renderNavigatorPage(): string {
  return `${INTRODUCTION}
## The shell

${SHELL}
| command | does |
|---|---|
${SLASH_COMMANDS.map(({ name, args, help }) => `| \`/${name}${args === "" ? "" : ` ${args}`}\` | ${help} |`).join("\n")}

${renderKeys(SHELL_KEYS, "shell")}
The text itself is edited as in most shells: words with Ctrl or Alt and the arrows, Alt-B and Alt-F; Ctrl-A and Ctrl-E; Ctrl-W,
Alt-D, Ctrl-U and Ctrl-K cut, Ctrl-Y puts back what was cut.

${PERMISSIONS}
## The tree

${TREE}
${renderKeys(NAVIGATOR_KEYS, "navigator")}
${DIALOGS}
## The sessions

${PICKER}
${renderKeys(PICKER_KEYS, "picker")}
${TERMINALS}`;
}

const INTRODUCTION = `<!-- Made by node .ci/docs.mjs from the key tables; a test compares it. -->
# The shell and its navigator

\`bough\` opens a shell on the newest session of the directory: a prompt, the tree of the session (\`/tree\`), and the list of
all sessions (\`/sessions\`). \`bough tree SESSION -i\` opens the tree alone, \`bough --resume\` the list.

All keys can be changed in the config file (\`keys\`, see [config.md](config.md)): an action with the keys it has instead. A
key that you give to one action is taken from every other one of that screen; \`?\` shows what is in force.
`;

const SHELL = `What is typed is a message of yours. It is on disk before anything else is done with it: before the model is asked, and
whatever becomes of the reply. With a model (\`--model\`, \`BOUGH_MODEL\` and \`BOUGH_BASE_URL\`, or the config file) the reply
streams in and is stored with what it used; Esc stops it and keeps what came. Without a model the shell is a notebook: it says so
once, and everything but replies works.

The model gets no tools unless the config file gives them (\`"tools": { "read": "allow", "bash": "ask" }\`). Those that are set to
\`ask\` are asked for one by one: \`y\` once, \`a\` for the rest of this shell, \`n\` no. What reaches outside of the folder is asked
for each time, whatever was allowed; see [what the permissions protect](#what-the-permissions-protect). A letter answers only
after the question has stood for a moment (0.8 s) without a key; what is typed or pasted before that goes to the prompt, and Tab leads
from the prompt to the question.

What is typed while a reply is written waits and goes out after it. A line that begins with \`/\` is a command; with \`//\` it is a
message.
`;

const PERMISSIONS = `### What the permissions protect

\`read\`, \`write\` and \`edit\` work on one file, which is checked before anything else, for every call:

- Links are followed first, also those whose target is not there. A file outside of the working folder is asked for, with
  its real path; "always" covers the folder and nothing else.
- The file that is opened is the one that was checked and asked about. Where a folder of its path has become a link meanwhile, the
  call fails. (Linux compares the descriptor's own path; other systems look again after opening.)
- A file is replaced whole: a temporary file in its folder (\`.bough-….tmp\`) is flushed to the disk and takes its name, so a full disk or
  a crash leaves the old file. It keeps permissions, owner and group; where they cannot be kept, nothing is written. The
  setuid, setgid and sticky bits are dropped. Another name of the same file (a hard link) keeps the old content, and access
  lists and extended attributes are not copied.

\`bash\` is not confined: a command can read and write whatever you can. Allow it only where you would run the command yourself, or
give the whole shell a container or a user of its own. The key of the model is kept from commands as far as a program can:

- Variables that hold a key or a password of the model are left out of the environment of commands.
- On Linux they are also erased from the memory that \`/proc/PID/environ\` and \`ps e\` show. Where that does not work, such as
  on macOS, the shell says so when it starts with \`bash\` switched on.
- Not protected: a key in a file that you may read (\`~/.bashrc\`, \`.env\`), in the environment of another process of yours, such as
  the shell that started bough (\`KEY=… bough\` sets it for bough alone), and the memory of bough itself where processes may trace
  each other (\`kernel.yama.ptrace_scope\` 0, or root).
`;

const TREE = `The whole session, every branch. It opens where the session stands; the branch it stands on comes first, and its path is
marked. A level of indentation begins where branches part and nowhere else. Each row says who spoke, what, which tools were
called, labels, how large it is (in tokens, about) and how old. The preview (\`v\`) shows the entry in full: Markdown, edits as
diffs, what a summary covers; for a place where branches part, the branches side by side.

Letters act on the tree; \`/\` opens the search field, in which they are typed. Enter leads from the field back to the tree with
what was found, Esc ends the search. It looks into the whole text of every entry through the store's index: words, \`"phrases"\`,
file names, and labels; hits are shown with what leads to them.

What another process does to the session is seen within half a second; the selected row stays.
`;

const DIALOGS = `Enter goes to the selected entry: what is said next stands under it. A message of yours comes back to the prompt to be said
again, and the session stands above it; where something is typed already, that stays, and the message is one Up away. Where a branch
is left, you are asked whether a summary of it is to be taken along: by the configured model, or as an extract. Esc cancels, also
while it is written, and nothing has changed. The setting \`navigator.leaving\` answers once and for all. Nothing is lost in any
case: the branch stays in the tree, and \`u\` takes the move back.
`;

const PICKER = `The sessions of this directory, or of all (Tab); forks stand under what they came from. Names are searched first, then
texts.
`;

const TERMINALS = `## Terminals

It runs from 40 × 10 characters up, follows a change of size, and leaves the terminal as it was: on quit, on an error, on SIGTERM,
SIGHUP and Ctrl-Z. \`NO_COLOR\` takes the colours away, \`BOUGH_ASCII=1\` the signs that are not ASCII. On a terminal that can only print
(\`TERM=dumb\`) the shell reads line by line, with the same commands, and prints the tree. Without a terminal (a pipe) it says so and
ends with code 62; \`bough tree\` and the other commands print. What is stored is shown and never
obeyed: control characters are drawn as signs. \`y\` copies through the terminal (OSC 52), which some terminals do not allow.
`;

function renderKeys(table: KeyTable<string>, screen: string): string {
  const rows = table.map(
    ({ action, keys, help }) =>
      `| ${keys.map((key) => `\`${keyName(key).replaceAll("|", "\\|")}\``).join(" ")} | ${help} | \`${action}\` |`,
  );
  return `| keys | | action in \`keys.${screen}\` |\n|---|---|---|\n${rows.join("\n")}\n`;
}
