import { FINDER_KEYS } from "../finder/keys.js";
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
## The search of all sessions

${FINDER}
${renderKeys(FINDER_KEYS, "finder")}
## The sessions

${PICKER}
${renderKeys(PICKER_KEYS, "picker")}
${TERMINALS}`;
}

const INTRODUCTION = `<!-- Made by node .ci/docs.mjs from the key tables; a test compares it. -->
# The shell and its navigator

\`bough\` opens a shell on the newest session of the directory: a prompt, the tree of the session (\`/tree\`), and the list of
all sessions (\`/sessions\`). \`bough tree SESSION -i\` opens only the tree, \`bough --resume\` the list.

All keys can be changed in the config file (\`keys\`, see [config.md](config.md)): each action lists the keys that replace its
default keys. A key that is set for one action is removed from all other actions of that screen. \`?\` shows the keys in force.
`;

const SHELL = `A line that you type is a user message. It is stored before the model is called, so a failed reply cannot lose it. With a model
(\`--model\`, \`BOUGH_MODEL\` and \`BOUGH_BASE_URL\`, or the config file) the reply is streamed and stored with its usage. Esc stops
it and keeps the part that arrived. Without a model everything but replies works; the shell mentions this once.

The model has no tools unless the config file allows them (\`"tools": { "read": "allow", "bash": "ask" }\`). With \`ask\` each call
needs a confirmation: \`y\` allows it once, \`a\` allows the tool until the shell ends, \`n\` denies it. Access to files outside of
the working directory is confirmed every time; see [what the permissions protect](#what-the-permissions-protect). A question
accepts a letter only after 0.8 s without a key, so that text being typed cannot answer it: earlier keys and pastes go to the prompt.
Tab moves from the prompt to the question.

Messages typed during a reply are queued and sent after it. A line that begins with \`/\` is a command; a message that begins with
\`/\` is typed with \`//\`.
`;

const PERMISSIONS = `### What the permissions protect

\`read\`, \`write\` and \`edit\` access one file. Each call checks it first:

- Links are resolved, also those with a missing target. A file outside of the working directory needs a confirmation that shows
  its real path; "always" covers only files inside.
- The file that is opened is the one that was checked and confirmed. If a directory of its path has become a link meanwhile, the
  call fails. (Linux compares the path of the file descriptor; other systems resolve the path again after opening.)
- A write replaces the whole file: a temporary file in the same directory (\`.bough-….tmp\`) is flushed to disk and renamed, so a full
  disk or a crash leaves the old file. Permissions, owner and group are kept; if that is impossible, nothing is written. The
  setuid, setgid and sticky bits are cleared. Hard links to the file keep the old content; access lists and extended attributes are
  not copied.

\`bash\` is not confined: a command can read and write everything that you can. Allow it only where you would run the command yourself,
or run the shell in a container or as a separate user. The API key of the model is hidden from commands as far as possible:

- Environment variables with a key or password of the model are removed from the environment of commands.
- On Linux they are also erased from the memory that \`/proc/PID/environ\` and \`ps e\` show. Where this is not possible, such as on
  macOS, the shell warns at its start if \`bash\` is enabled.
- Not protected: a key in a file that you can read (\`~/.bashrc\`, \`.env\`), in the environment of another process of yours, such as
  the shell that started bough (\`KEY=… bough\` sets it for bough alone), and the memory of bough itself if processes may trace each
  other (\`kernel.yama.ptrace_scope\` 0, or root).
`;

const TREE = `The tree shows all branches of the session. It opens at the current position (the leaf). The path of the leaf is marked, and stays in
the first column however many branch points lie on it. The other branches of a branch point hang off to the right, directly below it and
before the path goes on; in a branch off the path the part with the newest entry goes on in its column. The row of a branch point says how
many branches leave it (\`├ 3\`, in ASCII \`(3 branches)\`); \`}\` and \`{\` go from branch to branch. If the other branches of a branch
point have more than eight rows together, each of them starts folded; more than five start as one row (\`60 other branches\`), which
Space unfolds and Ctrl-← on one of them folds again.

Replies in a row that only call tools are one row: \`12 calls: read 5, edit 4, bash 3, 1 failed\`. It stands for the last of them, so that
going there leaves none of them behind. Space shows them singly and folds them again. A reply with a label, of a leaf or of a branch
point stays a row of its own, and so does the first row of a branch. The filter of all entries (Ctrl-A) shows every reply.

Each row shows the role, the beginning of the text, tool calls,
labels, the size in tokens (estimated) and the age. The preview (\`v\`) shows the selected entry in full: Markdown, edits as
diffs, the range of a summary; for a branch point also its branches side by side.

Letters are keys of the tree. \`/\` opens the search field, where letters are text. Enter returns from the field to the tree with the
hits; Esc ends the search. It searches the whole text of all entries with the store's index: words, \`"phrases"\`, file names, and
labels. The list has the hits only, each below its nearest ancestor that is a hit too; \`a\` adds the other ancestors, dimmed. A row
begins where the words stand. The preview opens at the first match of the entry and marks all of them: \`n\` and \`p\` go from match
to match, and from the last one to the next hit.

Changes by other processes appear within half a second; the selected row stays selected.

Of a session of more than 2,000 entries the first screen is read first: the end of the current branch, without the lines of other
branches. The rest is read behind it, which the heading shows (reading 34,000 of 100,000 entries). Meanwhile Up, Down and the
page keys move within that part, and the keys that close the tree close it. All other keys wait, in their order, and act when all
entries are there.
`;

const DIALOGS = `Enter moves to the selected entry: the next message is appended below it. A user message returns to the prompt for editing, and the
position is its parent. If the prompt has text already, that text stays; press Up for the message. When you leave a branch, a
dialog offers to write a summary of it at the new position, by the configured model or as an extract. Esc cancels, also while the summary is
written, and nothing changes. The setting \`navigator.leaving\` replaces the dialog. The branch stays in the tree in any case, and \`u\`
undoes the move.
`;

const FINDER = `\`bough search -i [words]\`, or \`bough search\` on a terminal, finds entries of all sessions while you type. The hits are grouped by
session, the session with the best hit first. Beside them, or below on a narrow terminal, is the selected entry, scrolled to its first
match, with all matches marked. Tab goes from match to match and then to the next hit.

Enter opens the tree of the session at the hit, with the search active: the other hits of that session are in its list. Esc returns to
the hits as they were. A move in the tree ends both and prints where the session stands.
`;

const PICKER = `The list shows the sessions of this directory, or all sessions (Tab). Forks are listed below their origin. A search looks for titles
first, then for text.
`;

const TERMINALS = `## Terminals

The screens need at least 40 × 10 characters and follow changes of the size. They restore the terminal when they quit, fail, get SIGTERM or
SIGHUP, or are suspended with Ctrl-Z. \`NO_COLOR\` turns colors off; \`BOUGH_ASCII=1\` draws only ASCII characters. On a terminal without
cursor movement (\`TERM=dumb\`) the shell reads line by line, with the same commands, and prints the tree. Without a terminal (a pipe) it
ends with code 62; use \`bough tree\` and the other commands instead. Control characters in stored text are drawn as symbols and never
sent to the terminal.
The tree, the list of sessions and the search use the mouse: the wheel scrolls the list, or the preview under the pointer, a click selects, a double
click opens as Enter does, a click on ▸ or ▾ folds. Hold Shift to select text as without it (Option in iTerm2, Fn in Terminal.app); \`"mouse":
false\` in the config file switches it off. It is off again whenever a screen ends, fails or is suspended. \`y\` copies through the terminal (OSC 52), which some terminals refuse.
`;

function renderKeys(table: KeyTable<string>, screen: string): string {
  const rows = table.map(
    ({ action, keys, help }) =>
      `| ${keys.map((key) => `\`${keyName(key).replaceAll("|", "\\|")}\``).join(" ")} | ${help} | \`${action}\` |`,
  );
  return `| keys | | action in \`keys.${screen}\` |\n|---|---|---|\n${rows.join("\n")}\n`;
}
