import type { CompactionSettings } from "../../settings/settings.js";

/** The form of a summary. */
export interface Form {
  /** What to write, for a conversation that is summarised for the first time. */
  readonly first: string;
  /** What to write when there are notes to bring up to date. */
  readonly update: string;
  /** The sections, as they must stand in the answer. */
  readonly sections: string;
  /** The answer stands in `<summary>`, behind an analysis. */
  readonly needsTag: boolean;
}

const UPDATE_RULES = `Bring the notes up to date with the record, which is what happened since. Write them anew as a whole, in the same form:
- keep what still holds; drop a point only where the record shows that it no longer does
- move work that is finished now to what is done; add new work, decisions, files and errors
- say what is next as it stands at the end of the record
- keep exact paths, names, commands, numbers and error messages, also those of the old notes`;

const STRUCTURED: Form = {
  first: "Write notes on the record that let another model go on with the work without having read it. Use exactly these headings.",
  update: `${UPDATE_RULES}\nUse exactly these headings.`,
  sections: `## Goal
What the user wants to reach. More than one, if there are several tasks; say when a goal changed.

## Constraints & Preferences
- Rules, wishes and limits the user stated, in the user's words; "(none)" if there are none

## Progress
### Done
- [x] What is finished, with the files concerned
### In Progress
- [ ] What was being worked on at the end
### Blocked
- What stands in the way, if anything does

## Key Decisions
- **Decision**: the reason for it

## Next Steps
1. What to do next, in order

## Critical Context
- Data, examples, references, errors and findings that are needed to go on; "(none)" if there are none`,
  needsTag: false,
};

const HANDOFF: Form = {
  first: `Prepare a handover of the work in the record. First think inside <analysis> tags: go through the record from its start to its end, and note what was asked, what was done and why, what failed and how it was mended, and where it stopped. Check that nothing that is needed to go on is missing. Then write the handover inside <summary> tags, with these eight sections.`,
  update: `First think inside <analysis> tags: which parts of the old notes still hold, and what the record changes or adds. Then write the handover inside <summary> tags, with these eight sections.\n${UPDATE_RULES}`,
  sections: `<analysis>
Your way through the record.
</analysis>

<summary>
1. Conversation Overview:
   - What the user asked for, how that changed, and the course of the conversation
2. Technical Foundation:
   - Languages, frameworks, libraries, versions, architecture and environment, as far as they matter here
3. Codebase Status:
   - Each file that matters: its purpose, its state, what was changed and why
4. Problem Resolution:
   - Errors met, their causes, what mended them, what was tried in vain, what was learned
5. Progress Tracking:
   - What is done and checked, what is half done, what is open
6. Active Work State:
   - What was being done when the record ends, with the latest change or piece of code
7. Recent Operations:
   - The last commands and tool calls, what they gave, and why they were made
8. Continuation Plan:
   - The next steps in order, each with what it needs; quote the user where a step rests on their words
</summary>`,
  needsTag: true,
};

const CHECKPOINT: Form = {
  first: "Write a checkpoint of the work in the record, from which it can be taken up again. Use exactly these tags, each once.",
  update: `${UPDATE_RULES}\nUse exactly these tags, each once.`,
  sections: `<overview>
What the user wants and how it is being approached, in a few sentences
</overview>

<history>
What happened, in order: what was asked, what was tried, what came of it. One numbered point for each step
</history>

<work_done>
Files created, changed and removed, each with what was done; tasks finished; the state at the end, and what was checked
</work_done>

<technical_details>
Decisions and reasons, how things work, oddities and errors with their causes, versions and settings; what is still unknown
</technical_details>

<important_files>
The files that matter most: path, why it matters, what was changed, key places in it
</important_files>

<next_steps>
What is left to do, and what was about to be done
</next_steps>

<checkpoint_title>
A title of two to six words
</checkpoint_title>`,
  needsTag: false,
};

const WORKING_SET: Form = {
  first:
    'Write down the working memory of the agent in the record. Use exactly these headings, all of them, in this order; write "None." under one that has nothing.',
  update: `${UPDATE_RULES}\nUse exactly these headings, all of them, in this order; write "None." under one that has nothing.`,
  sections: `## Active Task
The user's latest request that is not finished, in their own words

## Next Step
The one action that comes next

## Goal
What it all serves

## Constraints & Preferences
Rules and wishes of the user

## Key Decisions
Decisions, each with its reason

## User Corrections
What the user corrected or rejected, and what holds instead

## Errors & Fixes
Errors with their exact text, and what mended them; those that are open

## Completed Actions
What was done, numbered: action, target, outcome

## In Progress
What was begun and not finished

## Remaining Work
What is still to do

## Working Set
Files, symbols, commands, branches and addresses in use, with their state

## Pending User Asks
Questions and requests of the user without an answer yet

## Resolved Questions
Questions that were answered, with the answer

## Critical Context
Values, settings and findings that would be lost otherwise`,
  needsTag: false,
};

/** The forms that settings can name. */
export const FORMS: Readonly<Record<CompactionSettings["summary"]["prompt"], Form>> = {
  structured: STRUCTURED,
  handoff: HANDOFF,
  checkpoint: CHECKPOINT,
  "working-set": WORKING_SET,
};

/** The start of a turn whose end stays word for word; the sections are pi's three. */
export const TURN_PREFIX: Form = {
  first:
    "The record is the start of a turn that was too long to keep. The end of the turn stays in the conversation word for word and is not shown here. Write short notes on this start, so that the end can be understood. Use exactly these headings.",
  update: `The record is a further part of a turn that was too long to keep; its end stays word for word and is not shown here.\n${UPDATE_RULES}\nUse exactly these headings.`,
  sections: `## Original Request
What the user asked for in this turn

## Early Progress
- What was done and decided in this part

## Context for What Follows
- What must be known to understand and go on with the end of the turn`,
  needsTag: false,
};

/** A branch that was left; pi's sections up to the next steps. */
export const BRANCH: Form = {
  first:
    "The record is a branch of the conversation that the user has left to go on from an earlier point. Write notes on what was done there, so that its findings are not lost and its changes to files are known. Use exactly these headings.",
  update: `The record is a further part of a branch of the conversation that the user has left.\n${UPDATE_RULES}\nUse exactly these headings.`,
  sections: `## Goal
What was tried on this branch

## Constraints & Preferences
- Rules and wishes the user stated there; "(none)" if there are none

## Progress
### Done
- [x] What was finished, with the files concerned
### In Progress
- [ ] What was begun and not finished
### Blocked
- What stood in the way, if anything did

## Key Decisions
- **Decision**: the reason for it

## Next Steps
1. What would have come next there`,
  needsTag: false,
};
