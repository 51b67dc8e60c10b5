// `node:vm` for the search of session-core in a browser, which cannot stop a script: an expression runs without a limit of time. A page
// therefore runs only those that the search of its server has run on the same texts.

interface Context {
  readonly work: () => void;
}

export function createContext<Shape>(context: Shape): Shape {
  return context;
}

export class Script {
  runInContext({ work }: Context): void {
    work();
  }
}
