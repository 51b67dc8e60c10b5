type Write = (path: string, bytes: number) => void;
export declare const writeClaudeFile: Write;
export declare function writePiFile(path: string, bytes: number, seed?: number): void;
