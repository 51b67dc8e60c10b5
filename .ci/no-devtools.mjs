// In place of Ink's `devtools.js`, which connects to React's developer tools and brings a WebSocket client along: a person's
// terminal has no use for them.
export {};
