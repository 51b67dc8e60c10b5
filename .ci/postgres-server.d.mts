/** A server that runs for a test. */
export interface TestServer {
  /** Of its superuser and the database `postgres`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export function startPostgres(options?: {
  readonly settings?: readonly string[];
  readonly durable?: boolean;
  readonly native?: string;
}): Promise<TestServer>;
