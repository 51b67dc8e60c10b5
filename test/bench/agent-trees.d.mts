type Write = (path: string, bytes: number) => void;
export declare const writeAntigravityFile: Write;
export declare const writeDroidFile: Write;
export declare const writeGrokFile: Write;
export declare const writeKimiFile: Write;
export declare const writeQwenFile: Write;
