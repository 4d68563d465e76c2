// A world for each test: the demo's agents and booking systems, the app on a fresh SQLite database,
// the demo's accounts, and the agents registered. Both are real processes, and the app can be killed.
//
//   import { test, expect } from '../world.js';
//   test.use({ appEnv: { HOLDFAST_CRASH_AT: '…' } });
//   test('…', async ({ page, world }) => { await world.signIn(page, 'traveller'); … world.app.kill() … });

import { expect, test as base, type BrowserContext, type Page } from '@playwright/test';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Outside } from './outside.js';
import { Program, runOnce, type Environment } from './program.js';

export const ACCOUNTS = {
  traveller: { email: 'traveller@example.org', password: 'traveller-demo', role: 'traveller' },
  secondTraveller: { email: 'second-traveller@example.org', password: 'traveller-demo', role: 'traveller' },
  support: { email: 'support@example.org', password: 'support-demo', role: 'support' },
  admin: { email: 'admin@example.org', password: 'admin-demo', role: 'admin' },
} as const;

export type AccountName = keyof typeof ACCOUNTS;

/** Settings that a file or a describe block gives by `test.use`. */
export interface WorldOptions {
  /** Environment variables of the app, over the world's own. */
  appEnv: Environment;
  /** Environment variables of the demo world. */
  demoEnv: Environment;
}

/** The app, with its deaths and births. */
export class App {
  private program: Program | undefined;
  private logs = '';

  constructor(
    readonly url: string,
    private readonly binary: string,
    private readonly folder: string,
    private readonly env: Environment,
  ) {}

  get pid(): number | undefined {
    return this.program?.pid;
  }

  /** What it printed, over all its lives. */
  get log(): string {
    return this.logs + (this.program?.log ?? '');
  }

  /** Starts it and waits for /healthz. What `extra` says holds for this life only. */
  async start(extra: Environment = {}): Promise<void> {
    this.logs = this.log;
    this.program = new Program('app', this.binary, ['serve'], this.folder, { ...this.env, ...extra });
    await this.program.start(() => isHealthy(this.url));
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.current().kill();
  }

  /** Waits for a death of its own, such as HOLDFAST_CRASH_AT brings, and says how it came. */
  async ended(limit?: number): Promise<string> {
    return this.current().ended(limit);
  }

  async stop(): Promise<void> {
    await this.program?.stop();
  }

  /** A command of the app's binary, such as `check`; gives what it printed. */
  async command(...args: string[]): Promise<string> {
    return runOnce(this.binary, args, this.folder, this.env);
  }

  private current(): Program {
    if (this.program === undefined) throw new Error('the app was never started');
    return this.program;
  }
}

export interface World {
  app: App;
  demo: Program;
  /** The demo's control page and API. */
  control: string;
  /** The same, with a method for each thing that tests do there. */
  outside: Outside;
  /** What the demo world says of itself: its agents, booking systems and their addresses. */
  facts: Record<string, unknown>;
  /** An admin's token for /api/v1. */
  token: string;
  /** Where the database and the demo's state are. */
  folder: string;
  /** Signs in by the form at /login. */
  signIn(page: Page, account: AccountName): Promise<void>;
  /** Calls the JSON API as the admin. */
  api(path: string, init?: RequestInit): Promise<Response>;
}

/** What the browser complained of on any page: errors, warnings, scripts that threw. */
export class Complaints {
  private readonly heard: string[] = [];
  private readonly allowed: RegExp[] = [];

  /** Says that a complaint belongs to the test, such as the line for an answer with status 404. */
  allow(complaint: RegExp): void {
    this.allowed.push(complaint);
  }

  /** Listens to all pages of a context, those to come included. */
  listen(context: BrowserContext): void {
    context.on('weberror', (failure) => this.heard.push(`thrown: ${failure.error().message}`));
    context.on('console', (message) => {
      if (['error', 'warning', 'assert'].includes(message.type())) {
        this.heard.push(`${message.type()}: ${message.text()} (${message.location().url})`);
      }
    });
  }

  /** Those that nobody allowed. */
  unexpected(): string[] {
    return this.heard.filter((complaint) => !this.allowed.some((allowed) => allowed.test(complaint)));
  }
}

interface Fixtures extends WorldOptions {
  world: World;
  complaints: Complaints;
}

export const test = base.extend<Fixtures>({
  appEnv: [{}, { option: true }],
  demoEnv: [{}, { option: true }],
  world: async ({ appEnv, demoEnv }, use, testInfo) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-world-'));
    const programs: { log: string; stop(): Promise<void> }[] = [];
    try {
      await use(await build(folder, appEnv, demoEnv, programs));
    } finally {
      // Newest first, so that the app leaves before the agents do.
      for (const program of programs.reverse()) await program.stop();
      const log = programs.map((program) => program.log).join('\n');
      if (testInfo.status !== testInfo.expectedStatus) {
        await testInfo.attach('log of app and demo world', { body: log, contentType: 'text/plain' });
      }
      await rm(folder, { recursive: true, force: true });
    }
  },
  baseURL: async ({ world }, use) => {
    await use(world.app.url);
  },
  complaints: [
    async ({ context }, use) => {
      const complaints = new Complaints();
      complaints.listen(context);
      await use(complaints);
      expect(complaints.unexpected(), 'the browser has nothing to complain of').toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

async function build(
  folder: string,
  appEnv: Environment,
  demoEnv: Environment,
  programs: { log: string; stop(): Promise<void> }[],
): Promise<World> {
  const demoBinary = binary('HOLDFAST_DEMO_BIN');
  const data = join(folder, 'demo');
  const worldFile = join(data, 'world.json');
  const demo = new Program('demo', demoBinary, ['serve', '--data', data, '--base-port', '0'], folder, demoEnv);
  programs.push(demo);
  await demo.start(async () => existsSync(worldFile));
  const facts = JSON.parse(await readFile(worldFile, 'utf8')) as Record<string, unknown>;

  const listen = `127.0.0.1:${await freePort()}`;
  const app = new App(`http://${listen}`, binary('HOLDFAST_BIN'), folder, {
    HOLDFAST_DATABASE_URL: `sqlite:${join(folder, 'holdfast.db')}`,
    HOLDFAST_LISTEN: listen,
    HOLDFAST_DEMO: '1',
    HOLDFAST_SECRET_KEY: randomBytes(32).toString('hex'),
    HOLDFAST_SITE_ROOT: process.env.HOLDFAST_SITE_ROOT ?? resolve(import.meta.dirname, '../target/site'),
    ...appEnv,
  });
  programs.push(app);
  for (const { email, password, role } of Object.values(ACCOUNTS)) {
    await app.command('user', 'add', '--email', email, '--role', role, '--password', password);
  }
  const made = await app.command('token', 'create', '--role', 'admin', '--user', ACCOUNTS.admin.email);
  const token = made.trim();
  await app.start();
  await runOnce(demoBinary, ['register', '--world', worldFile, '--app', app.url, '--token', token], folder, demoEnv);

  return {
    app,
    demo,
    control: String(facts['control']),
    outside: new Outside(String(facts['control'])),
    facts,
    token,
    folder,
    signIn: (page, account) => signIn(page, app.url, account),
    api: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      if (init.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
      return fetch(`${app.url}/api/v1${path}`, { ...init, headers });
    },
  };
}

async function signIn(page: Page, url: string, account: AccountName): Promise<void> {
  const { email, password } = ACCOUNTS[account];
  await page.goto(`${url}/login`);
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('form:has(input[name=password]) button[type=submit]').click();
  await page.waitForURL((address) => address.pathname !== '/login');
}

function binary(variable: string): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`${variable} is not set: run \`cargo xtask test\``);
  return resolve(path);
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** A port that nobody listens on. */
function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.on('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') failed(new Error('no free port'));
        else found(address.port);
      });
    });
  });
}
