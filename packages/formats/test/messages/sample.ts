/** Messages of OpenAI: a system prompt, an image, a call with its result, a reply with its reasoning. */
export const OPEN_AI = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "Look." },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ],
  },
  { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }] },
  { role: "tool", tool_call_id: "a", content: "text of x" },
  { role: "assistant", content: "Done.", reasoning_content: "Easy." },
];
