// What the APIs share: events of a stream, and the shell among the tools of a request.

/** An event of a stream. */
export function sse(data, name) {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

const SHELLS = /^(bash|shell|shell_command|exec_command|run_shell_command|local_shell|execute|run_terminal_command)$/i;

/**
 * The tool that runs commands, and its arguments for a command by the members of its schema; undefined when the request has none.
 *
 * @param {{ name: string, schema: { properties?: Record<string, { type?: string }>, required?: string[] } | undefined }[]} tools
 */
export function shellTool(tools) {
  const tool = tools.find(({ name }) => SHELLS.test(name ?? ""));
  if (tool === undefined) return undefined;
  const properties = tool.schema?.properties ?? {};
  const input = (command) => {
    const required = Object.fromEntries((tool.schema?.required ?? []).map((name) => [name, valueFor(properties[name])]));
    const member = ["command", "cmd", "script"].find((name) => name in properties) ?? "command";
    return { ...required, [member]: properties[member]?.type === "array" ? ["bash", "-lc", command] : command };
  };
  return { name: tool.name, input };
}

function valueFor(property) {
  if (property?.type === "number" || property?.type === "integer") return 10_000;
  if (property?.type === "boolean") return false;
  return property?.type === "array" ? [] : "run a command";
}
