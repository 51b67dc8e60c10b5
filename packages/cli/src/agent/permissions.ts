import type { Permission } from "../config/schema.js";
import { resolveTarget } from "./tools/checked-file.js";
import type { Tool, ToolInput, ToolName } from "./tools/tool.js";

/** What each tool may do; one that is missing is off. */
export type Permissions = { readonly [K in ToolName]?: Permission | undefined };

/** A call that the person is asked about. */
export interface PermissionRequest {
  readonly id: string;
  readonly name: ToolName;
  readonly input: ToolInput;
  /** Where its `path` leads, links followed; null: it names none. */
  readonly target: string | null;
  /** It reaches outside of the working folder: it is asked about whatever was allowed, and "always" means this once. */
  readonly isOutside: boolean;
}

/**
 * `always`: this tool runs at once for the rest of the turn, within the working folder; who asks keeps it for later turns.
 */
export type PermissionAnswer = "yes" | "no" | "always";

/** Whether a call may run, and on which file: the one that was checked, and that the person was asked about. */
export interface CallPermission {
  readonly isAllowed: boolean;
  readonly target: string | null;
}

/** Decides call by call; remembers "always" for one turn. */
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

  /** The tools that are offered to the model. */
  offeredTools(tools: readonly Tool[]): readonly Tool[] {
    return tools.filter(({ name }) => (this.#permissions[name] ?? "off") !== "off");
  }

  /** Whether the call may run; asks the person where that is needed. What reaches outside of the folder is always asked for. */
  async check(id: string, name: ToolName, input: ToolInput): Promise<CallPermission> {
    const permission = this.#permissions[name] ?? "off";
    if (permission === "off") return { isAllowed: false, target: null };
    const { target, isOutside } = (await resolveTarget(input, this.#cwd)) ?? { target: null, isOutside: false };
    const isKnown = permission === "allow" || this.#always.has(name);
    if (isKnown && !isOutside) return { isAllowed: true, target };
    const answer = await this.#ask({ id, name, input, target, isOutside });
    if (answer === "always" && !isOutside) this.#always.add(name);
    return { isAllowed: answer !== "no", target };
  }
}
