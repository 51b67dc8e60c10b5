import { antigravityFormat } from "./antigravity/format.js";
import { boughFormat } from "./bough/read.js";
import { claudeFormat, coworkFormat, openClaudeFormat } from "./claude/format.js";
import { coCliFormat } from "./co-cli/format.js";
import { codexFormat } from "./codex/format.js";
import { copilotFormat } from "./copilot/format.js";
import { cursorFormat } from "./cursor/format.js";
import { droidFormat } from "./droid/format.js";
import { geminiFormat } from "./gemini/format.js";
import { grokFormat } from "./grok/format.js";
import { hermesFormat } from "./hermes/format.js";
import { kimiFormat } from "./kimi/format.js";
import { messagesFormat } from "./messages/format.js";
import { kiloFormat, opencodeFormat } from "./opencode/format.js";
import { openclawFormat, piFormat, primeFormat } from "./pi/format.js";
import { tauFormat } from "./pi/tau.js";
import { qwenFormat } from "./qwen/format.js";
import type { SourceFormat } from "./source/source-format.js";
import { vscodeChatFormat } from "./vscode-chat/format.js";

/**
 * Every format that can be imported, in the order of detection: one that is another format in a folder of its own before that one, and
 * `messages`, which any program may write, as the last one. `KNOWN_AGENTS` (agents.ts) lists their programs for people; a test compares.
 */
export const FORMATS: readonly SourceFormat[] = [
  boughFormat,
  openclawFormat,
  primeFormat,
  piFormat,
  tauFormat,
  coworkFormat,
  openClaudeFormat,
  claudeFormat,
  codexFormat,
  vscodeChatFormat,
  copilotFormat,
  cursorFormat,
  geminiFormat,
  qwenFormat,
  kimiFormat,
  droidFormat,
  antigravityFormat,
  grokFormat,
  hermesFormat,
  kiloFormat,
  opencodeFormat,
  coCliFormat,
  messagesFormat,
];
