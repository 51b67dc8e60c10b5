import { boughFormat } from "./bough/read.js";
import { claudeFormat } from "./claude/format.js";
import { coCliFormat } from "./co-cli/format.js";
import { codexFormat } from "./codex/format.js";
import { copilotFormat } from "./copilot/format.js";
import { cursorFormat } from "./cursor/format.js";
import { geminiFormat } from "./gemini/format.js";
import { messagesFormat } from "./messages/format.js";
import { opencodeFormat } from "./opencode/format.js";
import { piFormat } from "./pi/format.js";
import type { SourceFormat } from "./source/source-format.js";
import { vscodeChatFormat } from "./vscode-chat/format.js";

/**
 * Every format that can be imported, in the order of detection; `messages` is the last one, because any program may write it. Texts that
 * list them: `KNOWN_FORMATS` in errors/import-errors.ts, and packages/cli: exit-codes.ts and program/file-commands.ts.
 */
export const FORMATS: readonly SourceFormat[] = [
  boughFormat,
  piFormat,
  claudeFormat,
  codexFormat,
  vscodeChatFormat,
  copilotFormat,
  cursorFormat,
  geminiFormat,
  opencodeFormat,
  coCliFormat,
  messagesFormat,
];
