import type { Permission } from "../config/schema.js";
import { reachesOutside } from "./tools/outside.js";
import type { Tool, ToolInput, ToolName } from "./tools/tool.js";

/** What each tool may do; one that is missing is off. */
export type Permissions = { readonly [K in ToolName]?: Permission | undefined };

/** A call that the person is asked about. */
export interface AskedCall {
  readonly id: string;
  readonly name: ToolName;
  readonly input: ToolInput;
  /** It is allowed in the working folder, and this call reaches outside of it. */
  readonly isOutside: boolean;
}

/** `always`: this tool runs at once for the rest of the turn; who asks keeps it for later turns. */
export type Answer = "yes" | "no" | "always";

/** Decides call by call; remembers "always" for one turn. */
export class Gatekeeper {
  readonly #always = new Set<ToolName>();

  constructor(
    private readonly permissions: Permissions,
    private readonly cwd: string,
    private readonly ask: (call: AskedCall) => Promise<Answer>,
  ) {}

  /** The tools that are offered to the model. */
  offered(tools: readonly Tool[]): readonly Tool[] {
    return tools.filter(({ name }) => (this.permissions[name] ?? "off") !== "off");
  }

  /** Whether the call may run; asks the person where that is needed. */
  async allows(id: string, name: ToolName, input: ToolInput): Promise<boolean> {
    if (this.#always.has(name)) return true;
    const permission = this.permissions[name] ?? "off";
    if (permission === "off") return false;
    const isOutside = permission === "allow" && (await reachesOutside(input, this.cwd));
    if (permission === "allow" && !isOutside) return true;
    const answer = await this.ask({ id, name, input, isOutside });
    if (answer === "always") this.#always.add(name);
    return answer !== "no";
  }
}
