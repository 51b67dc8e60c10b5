import { BASH } from "./bash.js";
import { EDIT } from "./edit.js";
import { READ } from "./read.js";
import type { Tool } from "./tool.js";
import { WRITE } from "./write.js";

/** The tools that a model can be given, the harmless ones first. */
export const TOOLS: readonly Tool[] = [READ, WRITE, EDIT, BASH];
