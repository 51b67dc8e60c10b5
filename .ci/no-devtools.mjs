// Replaces Ink's `devtools.js`, which connects to React's developer tools and contains a WebSocket client.
export {};
