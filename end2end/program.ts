// One of the binaries, run by a test: started, killed, started again, and what it said kept.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export type Environment = Record<string, string>;

/** The last that a program said: enough to see why a test failed. */
const KEPT = 200_000;

export class Program {
  /** Everything it printed, over all its lives. */
  log = '';
  private child: ChildProcess | undefined;
  private ending: Promise<string> | undefined;

  constructor(
    private readonly name: string,
    private readonly binary: string,
    private readonly args: string[],
    private readonly folder: string,
    private readonly env: Environment,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get running(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Starts it and waits until `up` says yes. */
  async start(up: () => Promise<boolean>, limit = 60_000): Promise<void> {
    if (this.running) throw new Error(`${this.name} runs already`);
    const child = spawn(this.binary, this.args, {
      cwd: this.folder,
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.note('starts');
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.keep(text));
    }
    let failure: Error | undefined;
    child.on('error', (error) => (failure = error));
    this.ending = new Promise((resolve) => {
      child.on('exit', (code, signal) => {
        const how = signal === null ? `exit status ${code}` : `killed by ${signal}`;
        this.note(how);
        resolve(how);
      });
    });
    const begun = Date.now();
    while (Date.now() - begun < limit) {
      if (failure !== undefined) throw new Error(`${this.name} cannot be started: ${failure.message}`);
      if (!this.running) throw new Error(`${this.name} did not start: ${await this.ending}\n${this.log}`);
      if (await up()) return;
      await pause(25);
    }
    throw new Error(`${this.name} is not up after ${limit} ms\n${this.log}`);
  }

  /** SIGKILL, as a crash would; returns when it is gone. */
  async kill(): Promise<void> {
    if (!this.running) throw new Error(`${this.name} does not run`);
    this.child?.kill('SIGKILL');
    await this.ending;
  }

  /** Waits until it ends by itself, and says how. */
  async ended(limit = 30_000): Promise<string> {
    if (this.ending === undefined) throw new Error(`${this.name} was never started`);
    const late = pause(limit).then(() => undefined);
    const how = await Promise.race([this.ending, late]);
    if (how === undefined) throw new Error(`${this.name} still runs after ${limit} ms`);
    return how;
  }

  /** Ends it in order, and by force where that takes too long. */
  async stop(): Promise<void> {
    if (!this.running) return;
    this.child?.kill('SIGTERM');
    const force = setTimeout(() => this.child?.kill('SIGKILL'), 5_000);
    await this.ending;
    clearTimeout(force);
  }

  private note(what: string): void {
    this.keep(`--- ${this.name} (pid ${this.pid ?? 'none'}) ${what}\n`);
  }

  private keep(text: string): void {
    this.log = (this.log + text).slice(-KEPT);
  }
}

/** Runs a program to its end and gives what it printed; one of `statuses` is expected. */
export async function runOnce(
  binary: string,
  args: string[],
  folder: string,
  env: Environment,
  statuses: number[] = [0],
): Promise<string> {
  const child = spawn(binary, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === null || !statuses.includes(code)) {
    throw new Error(`\`${[binary, ...args].join(' ')}\` left with ${code}:\n${err}${out}`);
  }
  return out;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
