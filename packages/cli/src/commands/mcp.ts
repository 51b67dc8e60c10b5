import { openStore, WrongKeyError } from "@bough/session-core";
import { UsageError } from "../errors.js";
import { MCP_CLIENTS } from "../mcp/clients.js";
import { forgetPrintedKeys, noteKey, openOptions } from "../session/store-key.js";
import { locateStore, notePassword } from "../session/store-location.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, type CommonOptions, confirm, type Invocation } from "./command.js";

interface McpOptions extends CommonOptions {
  readonly install?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly withSecrets?: boolean;
}

/** `bough mcp`: serves the store to an MCP client over stdin and stdout; with `--install` it only configures the client. */
export const runMcp: Command<McpOptions> = async (invocation) => {
  const { io, options } = invocation;
  if (options.install !== undefined) return install(invocation, options.install);
  if (options.dryRun === true) throw new UsageError("--dry-run needs --install CLIENT; without it nothing is written.");
  const [{ serveMcp }, { ReopenedStore }] = await Promise.all([import("../mcp/server.js"), import("../mcp/reopened-store.js")]);
  const location = await locateStore(io, options.store);
  const file = location.isServer ? undefined : location.address;
  // The protocol is spoken over stdin: a command that prints the key must not read it.
  const silent = { env: io.env };
  const open = async () => {
    try {
      return await openStore({ ...(await openOptions(silent, location)), mode: "read-only" });
    } catch (error) {
      // Perhaps the password manager gets the new key later: the next call asks its command again.
      if (error instanceof WrongKeyError) forgetPrintedKeys();
      throw error;
    }
  };
  await serveMcp(new ReopenedStore(file, open), io, options.withSecrets === true);
};

async function install({ io, out, options }: Invocation<McpOptions>, name: string): Promise<void> {
  const client = MCP_CLIENTS.find((one) => one.name === name);
  if (client === undefined)
    throw new UsageError(`--install ${name}: there is no such client. Choose from ${MCP_CLIENTS.map((one) => one.name).join(", ")}.`);
  const { prepareInstallation } = await import("../mcp/install.js");
  // A client does not start the server with the environment of this shell, so a store that BOUGH_STORE names is written as well.
  const location = await locateStore(io, options.store);
  const withSecrets = options.withSecrets === true;
  const args = ["mcp", ...(location.isDefault ? [] : ["--store", location.name]), ...(withSecrets ? ["--with-secrets"] : [])];
  const { file, text, found: present, write } = await prepareInstallation(io, client, args);
  if (present === "same") return out.line(`${client.title} has this server already, in ${file}.`);
  out.line(styled("bold", `${client.title}: ${file}`));
  for (const line of text.split("\n")) out.line(`  ${line}`);
  notePassword(out, location, client.title);
  noteKey(out, io.env, client.title);
  out.line(
    withSecrets
      ? `Models that ${client.title} uses can read the keys, tokens and passwords in all sessions of the store, of every agent.`
      : "Keys, tokens and passwords are masked in the answers of this server (--with-secrets keeps them).",
  );
  if (options.dryRun === true) return out.line("Nothing was written.");
  if (io.ask === undefined && options.yes !== true) return explainByHand(out, present);
  await out.flush();
  const consequence = present === "other" ? "The entry of this name is replaced." : "Everything else in the file stays.";
  if (options.yes !== true) await confirm(io, `Write this entry to ${file}`, consequence);
  await write();
  out.line(`Written. Start ${client.title} again to use it.`);
}

function explainByHand(out: Printer, found: string): void {
  const there = found === "other" ? " It replaces the entry of this name." : "";
  out.line(`Add this entry to that file, or repeat the command with --yes to have it written.${there}`);
}
