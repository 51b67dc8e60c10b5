import { type CommandRegistry, defineCommand } from "./define.js";

const GROUP = "Import, export, maintain";

/** Adds the commands that lock a store with a key, unlock it, and change the key. */
export function defineKeyCommands(registry: CommandRegistry): void {
  defineLock(registry);
  defineUnlock(registry);
  defineRekey(registry);
}

const KEY_HELP =
  "The key is any text; new ones have 8 characters at least. Writes a copy beside the store, checks it, and puts it in the place of the store: " +
  "whatever interrupts it, the whole store is there, with the old key or the new one. Fails while another process has the store open.";

const KEY_JSON = "{ store, locked, otherNames }; otherNames counts hard links, which keep the old file";

function defineLock(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "lock",
    {
      group: GROUP,
      summary: "Encrypt the store with a key",
      more:
        `The key is that of BOUGH_NEW_KEY, else of BOUGH_KEY, or what the command in BOUGH_NEW_KEY_COMMAND or BOUGH_KEY_COMMAND prints; without them it is asked for. ${KEY_HELP} ` +
        "Every other command finds the key in BOUGH_KEY or BOUGH_KEY_COMMAND, or asks. Needs the package better-sqlite3-multiple-ciphers.",
      examples: [
        ["bough lock", "asks for a key twice"],
        ["BOUGH_KEY_COMMAND='pass show bough' bough lock", "takes it from a password manager"],
      ],
      json: KEY_JSON,
    },
    async () => (await import("../commands/change-key.js")).runLock,
  );
}

function defineUnlock(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "unlock",
    {
      group: GROUP,
      summary: "Decrypt a locked store",
      more: `The key is that of BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints; without them it is asked for. ${KEY_HELP}`,
      examples: [["bough unlock", "asks for the key"]],
      json: KEY_JSON,
    },
    async () => (await import("../commands/change-key.js")).runUnlock,
  );
}

function defineRekey(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "rekey",
    {
      group: GROUP,
      summary: "Change the key of a locked store",
      more:
        "The old key is that of BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints; the new one that of BOUGH_NEW_KEY or " +
        `BOUGH_NEW_KEY_COMMAND. What is missing is asked for. ${KEY_HELP}`,
      examples: [["bough rekey", "asks for the old key, and twice for the new one"]],
      json: KEY_JSON,
    },
    async () => (await import("../commands/change-key.js")).runRekey,
  );
}
