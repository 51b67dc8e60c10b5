type Write = (path: string, bytes: number) => void;
export declare const writeClaudeFile: Write;
export declare const writePiFile: Write;
