import type { ModelSetting } from "./context.js";

/** Names of a model that mean the same are equal: without region, maker, date and revision. */
export function modelKey({ provider = "", modelId }: ModelSetting): string {
  const host =
    /bedrock|vertex|azure|foundry/i.exec(`${provider} ${modelId}`)?.[0].toLowerCase() ?? (isBedrockName(modelId) ? "bedrock" : "");
  const [named = ""] = modelId
    .toLowerCase()
    .replace(/^.*[/.](?=claude)/, "")
    .split(/[@:]/, 1);
  const name = named.replace(/-v\d+$/, "");
  return `${host} ${name.replace(/-(?:20\d{2}-?\d{2}-?\d{2}|latest)$/, "").replaceAll(".", "-")}`;
}

function isBedrockName(modelId: string): boolean {
  return /(?:^|[./])anthropic\.claude/i.test(modelId);
}

/** True if one provider may read what the other encrypted: names such as `openai.responses` and `openai-codex` are of OpenAI. Unknown: it may. */
export function isSameProvider(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || providerKey(one) === providerKey(other);
}

function providerKey(provider: string): string {
  const name = provider.toLowerCase();
  return /azure|openai|xai/.exec(name)?.[0] ?? name;
}
