// Data. Sizes as the makers publish them for the model behind the name; where a name was used for several, the smallest.
// The first row that fits counts, so exceptions stand before their family.
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude.*\[1m\]/, 1_000_000],
  [/claude/, 200_000],
  [/gpt-5-chat/, 128_000],
  [/gpt-5/, 400_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4(?:o|\.5|-turbo|-1106|-0125|-vision)/, 128_000],
  [/gpt-4-32k/, 32_768],
  [/gpt-4(?![.\d])/, 8_192],
  [/gpt-3\.5-turbo/, 16_385],
  [/gpt-oss/, 131_072],
  [/o1-(?:mini|preview)/, 128_000],
  [/o(?:1|3|4-mini)(?![\w.])/, 200_000],
  [/gemini-1\.5-pro/, 2_097_152],
  [/gemini-(?:1\.5|2|3)/, 1_048_576],
  [/grok-4/, 256_000],
  [/grok-code/, 256_000],
  [/grok-[23](?!\d)/, 131_072],
  [/deepseek-(?:chat|reasoner|v3|r1)/, 128_000],
  [/mistral-(?:large|medium|small)/, 128_000],
  [/kimi-k2/, 131_072],
  [/qwen3-coder/, 262_144],
  [/glm-4\.6/, 200_000],
  [/glm-4\.5/, 131_072],
  [/llama-?3\.[1-3]/, 131_072],
];

/**
 * The context window of a model, in tokens, by its name alone; undefined: it is not in the table.
 *
 * @example
 * windowOf("anthropic/claude-sonnet-4-5"); // 200000
 */
export function windowOf(modelId: string): number | undefined {
  const name = modelId.toLowerCase();
  return WINDOWS.find(([{ source }]) => new RegExp(`(?<![a-z0-9])(?:${source})`).test(name))?.[1];
}
