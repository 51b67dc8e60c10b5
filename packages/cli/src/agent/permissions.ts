import type { Permission } from "../config/schema.js";
import { resolveTarget } from "./tools/checked-file.js";
import type { Tool, ToolInput, ToolName } from "./tools/tool.js";

/** The permission of each tool; a missing one is `off`. */
export type Permissions = { readonly [K in ToolName]?: Permission | undefined };

/** A tool call that the user is asked to confirm. */
export interface PermissionRequest {
  readonly id: string;
  readonly name: ToolName;
  readonly input: ToolInput;
  /** Its `path` with symbolic links resolved; null: the call has no path. */
  readonly target: string | null;
  /** Whether the path is outside of the working directory. Such calls are always asked about; "always" allows this call only. */
  readonly isOutside: boolean;
}

/** `always`: calls of this tool within the working directory need no confirmation for the rest of the turn. */
export type PermissionAnswer = "yes" | "no" | "always";

/** Whether a call may run, and on which file: the resolved path that was checked and confirmed. */
interface CallPermission {
  readonly isAllowed: boolean;
  readonly target: string | null;
}

/** Checks tool calls against the permissions. Remembers "always" for one turn. */
export class PermissionChecker {
  readonly #always = new Set<ToolName>();

  readonly #permissions: Permissions;
  readonly #cwd: string;
  readonly #ask: (call: PermissionRequest) => Promise<PermissionAnswer>;

  constructor(permissions: Permissions, cwd: string, ask: (call: PermissionRequest) => Promise<PermissionAnswer>) {
    this.#permissions = permissions;
    this.#cwd = cwd;
    this.#ask = ask;
  }

  /** The tools whose permission is not `off`. */
  offeredTools(tools: readonly Tool[]): readonly Tool[] {
    return tools.filter(({ name }) => (this.#permissions[name] ?? "off") !== "off");
  }

  /** Checks a call; asks the user with permission `ask`, and for paths outside of the working directory. */
  async check(id: string, name: ToolName, input: ToolInput): Promise<CallPermission> {
    const permission = this.#permissions[name] ?? "off";
    if (permission === "off") return { isAllowed: false, target: null };
    const { target, isOutside } = (await resolveTarget(input, this.#cwd)) ?? { target: null, isOutside: false };
    const isAllowed = permission === "allow" || this.#always.has(name);
    if (isAllowed && !isOutside) return { isAllowed: true, target };
    const answer = await this.#ask({ id, name, input, target, isOutside });
    if (answer === "always" && !isOutside) this.#always.add(name);
    return { isAllowed: answer !== "no", target };
  }
}
