import { join } from "node:path";
import { userFolder } from "../terminal/user-folder.js";

/** The command that the service runs, and the variables that it needs. */
export interface ServiceCommand {
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** The service of a user that runs `bough sync --watch` from login on, in the form that a system has. */
export interface Service {
  /** The system's name for this kind of service. */
  readonly title: string;
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** Command lines that start the service once its file is there, and that end it before the file is removed. */
  readonly start: readonly (readonly string[])[];
  readonly stop: readonly (readonly string[])[];
  /** A note for the user about logs and limits of the service. */
  readonly hint: string;
}

/** The first line of a file that `--install` wrote; `--uninstall` removes no other. */
export const SERVICE_MARK = "Written by bough sync --install";

interface ServicePlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** The service for a system; undefined: none is known for it. */
export function serviceFor(place: ServicePlace, run: ServiceCommand): Service | undefined {
  switch (place.platform) {
    case "linux":
      return systemdUnit(place, run);
    case "darwin":
      return launchAgent(place, run);
    case "win32":
      return scheduledTask(place, run);
    default:
      return undefined;
  }
}

const UNIT = "bough-sync.service";

function systemdUnit({ env, home }: ServicePlace, { command, variables }: ServiceCommand): Service {
  const lines = [
    `# ${SERVICE_MARK}`,
    "[Unit]",
    "Description=Bough imports what LLM agents write",
    "",
    "[Service]",
    ...Object.entries(variables).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`, false)}`),
    `ExecStart=${command.map((word) => systemdWord(word, true)).join(" ")}`,
    "Restart=on-failure",
    "RestartSec=30",
    "Nice=10",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ];
  return {
    title: "systemd user unit",
    file: join(userFolder({ env, home }, "XDG_CONFIG_HOME"), "systemd", "user", UNIT),
    text: lines.join("\n"),
    start: [
      ["systemctl", "--user", "daemon-reload"],
      ["systemctl", "--user", "enable", UNIT],
      ["systemctl", "--user", "restart", UNIT],
    ],
    stop: [["systemctl", "--user", "disable", "--now", UNIT]],
    hint: `journalctl --user --unit ${UNIT} shows what it imports. It runs while you are logged in; loginctl enable-linger keeps it running.`,
  };
}

/** A word of a unit file in quotes: `%` begins a specifier, and in a command line `$` a variable. */
function systemdWord(word: string, isCommand: boolean): string {
  const quoted = word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n");
  return `"${isCommand ? quoted.replaceAll("$", "$$$$") : quoted}"`;
}

const LABEL = "dev.bough.sync";

function launchAgent({ home }: ServicePlace, { command, variables }: ServiceCommand): Service {
  const file = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const log = join(home, "Library", "Logs", "bough-sync.log");
  const pairs = Object.entries(variables).flatMap(([name, value]) => [
    `      <key>${xml(name)}</key>`,
    `      <string>${xml(value)}</string>`,
  ]);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${SERVICE_MARK} -->`,
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "  <dict>",
    `    <key>Label</key><string>${LABEL}</string>`,
    "    <key>ProgramArguments</key>",
    "    <array>",
    ...command.map((word) => `      <string>${xml(word)}</string>`),
    "    </array>",
    ...(pairs.length === 0 ? [] : ["    <key>EnvironmentVariables</key>", "    <dict>", ...pairs, "    </dict>"]),
    "    <key>RunAtLoad</key><true/>",
    "    <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
    "    <key>ProcessType</key><string>Background</string>",
    `    <key>StandardOutPath</key><string>${xml(log)}</string>`,
    `    <key>StandardErrorPath</key><string>${xml(log)}</string>`,
    "  </dict>",
    "</plist>",
    "",
  ];
  return {
    title: "launchd agent",
    file,
    text: lines.join("\n"),
    start: [["launchctl", "load", "-w", file]],
    stop: [["launchctl", "unload", "-w", file]],
    hint: `${log} shows what it imports.`,
  };
}

const TASK = "Bough sync";

function scheduledTask({ env, home }: ServicePlace, { command, variables }: ServiceCommand): Service {
  const data = env["LOCALAPPDATA"];
  const file = join(data === undefined || data === "" ? home : data, "bough", "sync-task.xml");
  const set = Object.entries(variables).map(([name, value]) => `set ${windowsWord(`${name}=${value}`)} && `);
  const line = `${set.join("")}${command.map(windowsWord).join(" ")}`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${SERVICE_MARK} -->`,
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    "  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>",
    "  <Settings>",
    "    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
    "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
    "    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>",
    "    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
    "    <Hidden>true</Hidden>",
    "  </Settings>",
    "  <Actions>",
    "    <Exec>",
    "      <Command>cmd.exe</Command>",
    `      <Arguments>${xml(`/d /s /c "${line}"`)}</Arguments>`,
    "    </Exec>",
    "  </Actions>",
    "</Task>",
    "",
  ];
  return {
    title: "scheduled task",
    file,
    text: lines.join("\n"),
    start: [
      ["schtasks", "/Create", "/F", "/TN", TASK, "/XML", file],
      ["schtasks", "/Run", "/TN", TASK],
    ],
    stop: [
      ["schtasks", "/End", "/TN", TASK],
      ["schtasks", "/Delete", "/F", "/TN", TASK],
    ],
    hint: "It starts when you log on.",
  };
}

function windowsWord(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}

function xml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);
}
