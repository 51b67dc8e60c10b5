// Twenty questions about a real session of Claude Code (43 messages, one slash command), to show whether what helps one
// session helps another.
export const INIT_SESSION = {
  title: "claude/30530d66",
  file: "claude/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl",
  questions: [
    ["Which file was asked for?", /create a CLAUDE\.md file|asked.*CLAUDE\.md/i],
    ["What is to be done where the file exists already?", /already a CLAUDE\.md, suggest improvements/i],
    ["What must the file start with?", /prefix the file with the following text/i],
    ["What about practices that hold anywhere?", /don't include generic development practices/i],
    ["What may the agent not invent?", /do not make up information/i],
    ["What about lists of components?", /avoid listing every component/i],
    ["What about rules of Cursor and Copilot?", /Cursor rules.*include the important parts/i],
    ["Which commands belong in the file?", /how to build, lint, and run tests/i],
    ["Was the file written?", /I've created a comprehensive CLAUDE\.md|created.*CLAUDE\.md/i],
    ["Where is it, from the project's directory?", /^\W*(?:- )?`?CLAUDE\.md/],
    ["Where is the source, from the project's directory?", /(?<!debugtest\/)\bsrc\/find_issues\.ts/],
    ["In which state is the source?", /(?:source file|find_issues\.ts).{0,40}empty|empty.{0,40}(?:source file|find_issues)/i],
    ["What does the project do?", /(?:finding|find|search\w*) GitHub issues|GitHub issue (?:search|find)/i],
    ["How is it built?", /npx tsc/],
    ["How is it run?", /node dist\/find_issues\.js/],
    ["What does it need in its environment?", /GITHUB_TOKEN/],
    ["Which parts of the agent's plan are done?", /\[x\].*(?:Create comprehensive CLAUDE\.md|Examine source code)/],
    ["What did the agent look at first?", /(?:Read|package\.json|README\.md).*(?:package\.json|README\.md)/],
    ["Which files did it find that are not sources?", /empty\.copilotmd|cursor\.test\.ts/],
    ["What came of it in the end?", /ready to help future Claude Code instances/i],
  ],
};
