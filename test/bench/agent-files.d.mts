type Write = (path: string, bytes: number) => void;
export declare const writeCodexFile: Write;
export declare const writeCopilotFile: Write;
export declare const writeCursorTranscript: Write;
export declare const writeGeminiFile: Write;
export declare const writeVscodeChat: Write;
