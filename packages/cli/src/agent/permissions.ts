import type { Permission, RecallPermission } from "../config/schema.js";
import { resolveTarget } from "./tools/checked-file.js";
import type { FileToolName, ToolInput } from "./tools/tool.js";

/** The permission of each tool, and of the recall tools together. A missing one is `off`; `offersRecall` about that of the recall tools. */
export type Permissions = { readonly [K in FileToolName]?: Permission | undefined } & { readonly recall?: RecallPermission | undefined };

/** A tool call that the user is asked to confirm. */
export interface PermissionRequest {
  readonly id: string;
  readonly name: FileToolName;
  readonly input: ToolInput;
  /** Its `path` with symbolic links resolved; null: the call has no path. */
  readonly target: string | null;
  /** True if the path is outside the working directory. The user is asked about each such call; "always" allows this call only. */
  readonly isOutside: boolean;
}

/** `always`: calls of this tool within the working directory need no confirmation for the rest of the turn. */
export type PermissionAnswer = "yes" | "no" | "always";

/** The decision about a call. `target`: the resolved path that was checked and confirmed. */
interface CallPermission {
  readonly isAllowed: boolean;
  readonly target: string | null;
}

/** Checks a call; asks the user with permission `ask`, and for paths outside of the working directory. */
export type CheckCall = (id: string, name: FileToolName, input: ToolInput) => Promise<CallPermission>;

/** Checks tool calls against the permissions. Remembers "always" for one turn. */
export function callChecker(permissions: Permissions, cwd: string, ask: (call: PermissionRequest) => Promise<PermissionAnswer>): CheckCall {
  const always = new Set<FileToolName>();
  return async (id, name, input) => {
    const permission = permissions[name] ?? "off";
    if (permission === "off") return { isAllowed: false, target: null };
    const { target, isOutside } = (await resolveTarget(input, cwd)) ?? { target: null, isOutside: false };
    const isAllowed = permission === "allow" || always.has(name);
    if (isAllowed && !isOutside) return { isAllowed: true, target };
    const answer = await ask({ id, name, input, target, isOutside });
    if (answer === "always" && !isOutside) always.add(name);
    return { isAllowed: answer !== "no", target };
  };
}
