import { join } from "node:path";
import { applicationFolder } from "@bough/formats/agents";
import type { Io } from "../terminal/io.js";
import { namedFolder, userFolder } from "../terminal/user-folder.js";

/** An MCP client: the place of its config file, and the form of a server's entry in it. */
export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** Its config: TOML if the name of the file ends so, else JSON. */
  readonly file: (io: ClientIo) => string;
  /** The members that lead to the entry. */
  readonly path: readonly string[];
  readonly entry: (start: StartLine) => Readonly<Record<string, unknown>>;
  /** True if the client is started from a terminal, and so finds programs by PATH. */
  readonly knowsPath: boolean;
}

/** The facts that decide where config files are. */
type ClientIo = Pick<Io, "env" | "home"> & { readonly platform: NodeJS.Platform };

/** The program that the client starts, and its arguments. */
export interface StartLine {
  readonly command: string;
  readonly args: readonly string[];
}

const plain = (start: StartLine): Readonly<Record<string, unknown>> => ({ ...start });
const typed = (start: StartLine): Readonly<Record<string, unknown>> => ({ type: "stdio", ...start });

/** The clients that `bough mcp --install` knows. */
export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: "claude",
    title: "Claude Code",
    file: ({ env, home }) => join(namedFolder(env, "CLAUDE_CONFIG_DIR", home), ".claude.json"),
    path: ["mcpServers", "bough"],
    entry: typed,
    knowsPath: true,
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    file: (io) => join(applicationFolder(io), "Claude", "claude_desktop_config.json"),
    path: ["mcpServers", "bough"],
    entry: plain,
    knowsPath: false,
  },
  {
    name: "codex",
    title: "Codex",
    file: ({ env, home }) => join(namedFolder(env, "CODEX_HOME", join(home, ".codex")), "config.toml"),
    path: ["mcp_servers", "bough"],
    entry: plain,
    knowsPath: true,
  },
  {
    name: "cursor",
    title: "Cursor",
    file: ({ home }) => join(home, ".cursor", "mcp.json"),
    path: ["mcpServers", "bough"],
    entry: plain,
    knowsPath: false,
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    file: ({ home }) => join(home, ".gemini", "settings.json"),
    path: ["mcpServers", "bough"],
    entry: plain,
    knowsPath: true,
  },
  {
    name: "opencode",
    title: "opencode",
    file: (io) => join(userFolder(io, "XDG_CONFIG_HOME"), "opencode", "opencode.json"),
    path: ["mcp", "bough"],
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    knowsPath: true,
  },
  {
    name: "vscode",
    title: "Visual Studio Code",
    file: (io) => join(applicationFolder(io), "Code", "User", "mcp.json"),
    path: ["servers", "bough"],
    entry: typed,
    knowsPath: false,
  },
];
