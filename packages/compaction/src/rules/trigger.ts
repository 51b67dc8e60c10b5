/** What made a compaction run; stored with it. Copilot CLI's names. */
export type Trigger = "threshold" | "context_limit_retry" | "manual" | "memory_pressure" | "model_switch";
