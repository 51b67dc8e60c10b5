// In place of `react-devtools-core`, which Ink asks for where a variable says DEV: a person's terminal has no use for it.
export default { initialize: () => undefined, connectToDevTools: () => undefined };
