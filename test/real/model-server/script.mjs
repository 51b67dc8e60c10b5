// The replies of the scripted model. A prompt of the scenario begins with PROMPT-n and says what the model does:
//   CHAIN[3]   calls the shell three times, one call a request, and then answers
//   PAIR       calls the shell twice in one reply, the second command fails, and then answers
//   FULL       reports a use close to the context window, so that the agent compacts
// Anything else is answered with one text. A request that is no prompt of the scenario (a title, a summary) is answered as a summary.

/** The use that FULL reports: above every limit at which the agents are set to compact. */
export const FULL_TOKENS = 180_000;

/**
 * The reply to a request.
 *
 * @param {number} number  of the request in this run
 * @param {{ items: { role: "user" | "assistant" | "tool", text: string }[], shell: { name: string, input: (command: string) => object } | undefined }} request
 */
export function scriptedReply(number, request) {
  const marker = `reply${String(number).padStart(4, "0")}x`;
  const { items } = request;
  const promptAt = items.findLastIndex(({ role, text }) => role === "user" && /PROMPT-\d+/.test(text));
  const base = { number, marker, thinking: `Thinking about ${marker}.`, calls: [] };
  const isSummary = ASKS_FOR_SUMMARY.test(items.at(-1)?.text ?? "");
  if (promptAt < 0 || isSummary) return { ...base, text: summaryText(marker, isSummary ? STEPS : ""), usage: usageOf(number, 1000) };
  const prompt = items[promptAt].text;
  const rounds = items.slice(promptAt + 1).filter(({ role }) => role === "assistant").length;
  const commands = request.shell === undefined ? [] : commandsOf(prompt.slice(prompt.search(/PROMPT-\d+/)), rounds, marker);
  const calls = commands.map((command, at) => ({
    id: `call_${marker}_${at}`,
    name: request.shell?.name ?? "",
    input: request.shell?.input(command) ?? {},
  }));
  const text = calls.length > 0 ? `I run a command, ${marker}.` : `The answer is ${marker}.`;
  return { ...base, text, calls, usage: usageOf(number, /\bFULL\b/.test(prompt) ? FULL_TOKENS : 1000) };
}

/** The agents' own requests for a summary of the conversation stand in the last message. */
const ASKS_FOR_SUMMARY =
  /detailed summary of|CHECKPOINT COMPACTION|generate the <state_snapshot>|conversation to summarize|context checkpoint|anchored summary|summary (of|from) the conversation/i;

/** Grok Build takes a summary that is much shorter than the conversation for a failure. */
const STEPS = `<steps>${"The user asked for commands, they ran, and their output was shown. ".repeat(20)}</steps>`;

function summaryText(marker, steps) {
  return `<state_snapshot><overall_goal>The summary is ${marker}.</overall_goal>${steps}</state_snapshot>`;
}

function commandsOf(prompt, rounds, marker) {
  const chain = /CHAIN\[(\d+)\]/.exec(prompt);
  if (chain !== null) return rounds < Number(chain[1]) ? [`echo output of ${marker}`] : [];
  if (/\bPAIR\b/.test(prompt)) return rounds === 0 ? [`echo first of ${marker}`, `echo second of ${marker}; exit 3`] : [];
  return [];
}

function usageOf(number, input) {
  return { input: input + number, output: 20 + (number % 13), cacheRead: 50 + (number % 7), cacheWrite: 5 + (number % 3) };
}
