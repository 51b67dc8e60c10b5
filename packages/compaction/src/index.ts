// When and how a branch is shortened: filled by its own issue. Nothing is offered yet.
export {};
