import { boughFormat } from "../formats/bough/read.js";
import { claudeFormat } from "../formats/claude/claude.js";
import { piFormat } from "../formats/pi/format.js";
import type { SourceFormat } from "../source/source-session.js";

/** Every format that can be imported. The first that knows the content of a file reads it. */
export const FORMATS: readonly SourceFormat[] = [boughFormat, piFormat, claudeFormat];
