import { loadFramework } from "../peer.js";

/** What the adapter calls of the Claude Agent SDK. */
export const { foldSessionSummary } = await loadFramework(
  { name: "@anthropic-ai/claude-agent-sdk", range: ">=0.3.300 <0.4", uses: ["foldSessionSummary"] },
  () => import("@anthropic-ai/claude-agent-sdk"),
);
