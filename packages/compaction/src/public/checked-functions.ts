import { rules, shapes } from "@bough/session-core/internals";
import { COUNTER, EXTRACT_LIMIT, PLAN_INPUT, SHAPE_INPUT, SOURCE } from "../arguments/shapes.js";
import * as extractive from "../extract/extract.js";
import * as facts from "../extract/find-facts.js";
import * as request from "../fit/fit-request.js";
import * as plan from "../plan/plan-compaction.js";
import * as tokens from "../tokens/message-tokens.js";

// Arguments are checked where others call these functions: a check reads every message, which a compactor, whose messages
// come from the store, would pay for at each request.

/**
 * The facts of a conversation that a summary of it should keep, found without a model: the last request, the user's rules
 * (must, never, always, don't and their like), files of tool calls and of texts, commands that do or check something,
 * lines that tell of errors, names in backticks, numbers with a unit. By kind, the most important first; in a kind the
 * strongest first, at most `FACT_LIMITS` of them, each once.
 *
 * What nobody asks for again is left out: commands that only look, dependencies, lock files, temporary files, and whatever
 * stands in base64. Of tool output only errors are read, of what only looks (cat, grep) only where it failed, of code blocks nothing. Deterministic; cost is linear.
 *
 * @throws {InvalidArgumentError} no messages.
 * @example
 * findFacts([{ role: "user", content: "Never touch src/lexer.ts." }]).map(({ kind }) => kind); // ["request", "rule", "file"]
 */
export const findFacts = rules.checked(facts.findFacts, ["messages", shapes.MESSAGES]);

/**
 * Decides what is summarised and what is kept. Pure: the same plan for the same input; linear in the items.
 *
 * @throws {InvalidArgumentError} no such input.
 * @example
 * const plan = planCompaction({ items, keep: { by: "tokens", tokens: 20_000, wholeTurnTokens: 0 }, minMessages: 4, inForce: null });
 * if (plan.kind !== "nothing-to-compact") plan.firstKeptEntryId; // never a tool result
 */
export const planCompaction = rules.checked(plan.planCompaction, ["input", PLAN_INPUT]);

/**
 * Makes one request valid and fit; the session is not changed. Pure; linear in the request; where
 * nothing applies the very same arrays come back, after looks that allocate nothing.
 *
 * In this order: each result behind its call; image budget; trimming of old results; the cap of single results; then,
 * only over the limit, messages are left out by the guard's rule and at last what is left is cut. A thinking block that
 * was left out comes back at the end, where there is room.
 *
 * Never left out: the newest prompt. A reply and the results of its calls stay or go together.
 *
 * @throws {InvalidArgumentError} no such input; the check reads every message.
 * @example
 * const shaped = fitRequest({ ...measured, limitTokens: 120_000, systemTokens: 4_000, settings: settings.request, ... });
 * if (!shaped.fits) throw new Error("The newest prompt alone is too long for this model");
 */
export const fitRequest = rules.checked(request.fitRequest, ["input", SHAPE_INPUT]);

/**
 * A summary taken from the source itself, without a model: what was asked, the user's rules, what was done and decided,
 * errors and what became of them, files, where it stopped and what comes next, each in the words of the source. At most
 * `maxChars` UTF-16 code units and smaller than the source; only a source of a sentence or two is returned as it is, on
 * one line. Its first line says what it is.
 *
 * A previous extract is carried on block by block, newest lines first to have room; any other previous summary is quoted
 * without its middle. So an extract does not grow, however often it is brought up to date, and the first goal stays.
 * Lines that match `instructions` have room before others. What is done, decided or failed is told by what came of calls: see
 * docs/compaction.md. Secrets are masked, and paths are relative to the session's directory. Nothing of the source can become
 * a heading, open a code block or pass a control character on. Deterministic; cost is linear.
 *
 * @throws {InvalidArgumentError} no such source or limit.
 */
export const extract = rules.checked(extractive.extract, ["source", SOURCE], ["limit", EXTRACT_LIMIT]);

/**
 * Tokens of a message as the converters of session-core send it: texts, thoughts, calls with their arguments as JSON,
 * results, summaries in their templates, images by the rule of the model's provider. Cost is linear in its texts.
 *
 * @throws {InvalidArgumentError} no counter or no message.
 * @example
 * messageTokens(counter, { role: "user", content: "Hello" }); // 5: four for the message, one for the word
 */
export const messageTokens = rules.checked(tokens.messageTokens, ["counter", COUNTER], ["message", shapes.MESSAGE]);
