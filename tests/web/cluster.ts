// Runs a controller and its workers as real processes on this machine.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HEADERS, TEST_TOKEN } from './access';

const WEB_ROOT = new URL('../../web/dist', import.meta.url).pathname;

export async function until<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  seconds = 60,
): Promise<T> {
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no ${what} within ${seconds} s`);
}

function firstLine(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[0] || undefined;
  } catch {
    return undefined;
  }
}

// A cluster of one controller without workers.
export class Cluster {
  protected readonly folder = mkdtempSync(join(tmpdir(), 'trainyard-web-'));
  private readonly children = new Map<string, ChildProcess>();
  protected address = '127.0.0.1:0';
  private http = '127.0.0.1:0';

  constructor(protected readonly programs: string) {}

  get url(): string {
    return `http://${this.http}`;
  }

  get controllerPid(): number {
    return this.children.get('controller')?.pid ?? 0;
  }

  protected get dataDir(): string {
    return join(this.folder, 'controller');
  }

  private get tokenFile(): string {
    return join(this.dataDir, 'token');
  }

  // Starts or restarts the controller. A restart uses the ports of the first start.
  async startController(): Promise<void> {
    const file = join(this.folder, 'address');
    rmSync(file, { force: true });
    rmSync(`${file}.http`, { force: true });
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(this.tokenFile, TEST_TOKEN, { mode: 0o600 });
    this.spawn('controller', join(this.programs, 'trainyard-controller'), [
      '--listen',
      this.address,
      '--http-listen',
      this.http,
      '--listen-file',
      file,
      '--data-dir',
      this.dataDir,
      '--web-root',
      WEB_ROOT,
    ]);
    this.http = await until('HTTP address', () => firstLine(`${file}.http`));
    this.address = await until('address', () => firstLine(file));
  }

  // Kills the controller without a shutdown, like a crash.
  async killController(): Promise<void> {
    await this.end('controller', 'SIGKILL');
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`${this.url}/api/v1${path}`, { headers: HEADERS });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...HEADERS, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  // Returns a URL that logs in to the dashboard. The URL can be used only once.
  loginUrl(): string {
    const program = join(this.programs, 'trainyard');
    const env = { ...process.env, TRAINYARD_TOKEN_FILE: this.tokenFile };
    return execFileSync(program, ['--server', this.address, 'dashboard', '-o', 'name'], { env })
      .toString()
      .trim();
  }

  async stop(): Promise<void> {
    const others = [...this.children.keys()].filter((name) => name !== 'controller');
    await Promise.all(others.map((name) => this.end(name, 'SIGTERM')));
    await this.end('controller', 'SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  log(name: string): string {
    return readFileSync(join(this.folder, `${name}.log`), 'utf8');
  }

  protected spawn(name: string, program: string, args: string[]): ChildProcess {
    const log = openSync(join(this.folder, `${name}.log`), 'a');
    const env = { ...process.env, TRAINYARD_TOKEN_FILE: this.tokenFile };
    const child = spawn(program, args, { stdio: ['ignore', log, log], env });
    this.children.set(name, child);
    return child;
  }

  private async end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.children.get(name);
    this.children.delete(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(late);
  }
}

// A controller with real workers.
export class LiveCluster extends Cluster {
  async start(nodes: number, slotsPerNode = 1): Promise<void> {
    await this.startController();
    for (let node = 1; node <= nodes; node++) {
      this.spawn(`worker${node}`, join(this.programs, 'trainyard-worker'), [
        '--controller',
        this.address,
        '--data-dir',
        join(this.folder, `worker${node}`),
        '--node-name',
        `node${node}`,
        '--cpu-slots',
        String(slotsPerNode),
        '--stop-ranks-on-exit',
        '--metrics-listen',
        'off',
      ]);
    }
    await until('nodes', async () => {
      const answer = (await this.get('/nodes')) as { nodes: unknown[] };
      return answer.nodes.length === nodes ? true : undefined;
    });
  }

  // Submits a job that prints a step and a loss every 0.1 s. Returns its number.
  async submitPrinter(name: string, steps: number): Promise<number> {
    const script = `i=1; while [ $i -le ${steps} ]; do echo "step=$i loss=$((${steps} - i))"; `;
    const spec = {
      name,
      resources: { nodes: 2, slots_per_node: 1, device: 'cpu' },
      command: ['/bin/sh', '-c', `${script} i=$((i + 1)); sleep 0.1; done`],
      log_parser: { kind: 'regex', pattern: 'step=(?P<step>\\d+) loss=(?P<loss>\\S+)' },
    };
    return ((await this.post('/jobs', { spec })) as { job: { id: number } }).job.id;
  }
}

export interface SeedSize {
  jobs: number;
  sweep: number;
  points: number;
  logBytes: number;
}

export const FULL_SIZE: SeedSize = { jobs: 10_000, sweep: 50, points: 1_000_000, logBytes: 4e6 };

// A cluster with weeks of history (tests/web/seed). Simulated workers continue its running jobs.
export class SeededCluster extends Cluster {
  async start(size: SeedSize): Promise<void> {
    const tools = join(this.programs, '../tests/web/seed');
    const fleet = join(this.folder, 'fleet');
    await this.seed(join(tools, 'web_seed'), fleet, size);
    await this.startController();
    const args = ['--controller', this.address, '--fleet-file', fleet];
    this.spawn('fleet', join(tools, 'web_fleet'), args);
    await until('a ready fleet', async () => {
      const { nodes } = (await this.get('/nodes')) as { nodes: { state: string }[] };
      return nodes.filter(({ state }) => state === 'ready').length > 130 ? true : undefined;
    });
  }

  private async seed(program: string, fleet: string, size: SeedSize): Promise<void> {
    const child = this.spawn('seed', program, [
      ...['--data-dir', this.dataDir, '--fleet-file', fleet],
      ...['--jobs', String(size.jobs), '--sweep', String(size.sweep)],
      ...['--points', String(size.points), '--log-bytes', String(size.logBytes)],
    ]);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`web_seed exited with ${String(code)}: ${this.log('seed')}`);
  }
}
