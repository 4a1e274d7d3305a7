// A controller and its workers as real processes on this machine.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WEB_ROOT = new URL('../../web/dist', import.meta.url).pathname;

async function until<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no ${what} within 20 s`);
}

function firstLine(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')[0] || undefined;
  } catch {
    return undefined;
  }
}

export class LiveCluster {
  private readonly folder = mkdtempSync(join(tmpdir(), 'trainyard-web-'));
  private readonly children = new Map<string, ChildProcess>();
  private address = '127.0.0.1:0';
  private http = '127.0.0.1:0';

  constructor(private readonly programs: string) {}

  get url(): string {
    return `http://${this.http}`;
  }

  async start(nodes: number): Promise<void> {
    await this.startController();
    for (let node = 1; node <= nodes; node++) {
      const folder = join(this.folder, `worker${node}`);
      this.spawn(`worker${node}`, 'trainyard-worker', [
        '--controller',
        this.address,
        '--data-dir',
        folder,
        '--node-name',
        `node${node}`,
        '--cpu-slots',
        '1',
        '--stop-ranks-on-exit',
      ]);
    }
    await until('nodes', async () => {
      const answer = (await this.get('/nodes')) as { nodes: unknown[] };
      return answer.nodes.length === nodes ? true : undefined;
    });
  }

  // Again on the ports of its first start.
  async startController(): Promise<void> {
    const file = join(this.folder, 'address');
    rmSync(file, { force: true });
    rmSync(`${file}.http`, { force: true });
    this.spawn('controller', 'trainyard-controller', [
      '--listen',
      this.address,
      '--http-listen',
      this.http,
      '--listen-file',
      file,
      '--data-dir',
      join(this.folder, 'controller'),
      '--web-root',
      WEB_ROOT,
    ]);
    this.http = await until('HTTP address', () => firstLine(`${file}.http`));
    this.address = await until('address', () => firstLine(file));
  }

  // As a crash would: no chance to say goodbye.
  async killController(): Promise<void> {
    await this.end('controller', 'SIGKILL');
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`${this.url}/api/v1${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  // A job that says a step and a loss every tenth of a second. Returns its number.
  async submitTalker(name: string, steps: number): Promise<number> {
    const script = `i=1; while [ $i -le ${steps} ]; do echo "step=$i loss=$((${steps} - i))"; `;
    const spec = {
      name,
      resources: { nodes: 2, slots_per_node: 1, device: 'cpu' },
      command: ['/bin/sh', '-c', `${script} i=$((i + 1)); sleep 0.1; done`],
      log_parser: { kind: 'regex', pattern: 'step=(?P<step>\\d+) loss=(?P<loss>\\S+)' },
    };
    const response = await fetch(`${this.url}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ spec }),
    });
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { job: { id: number } }).job.id;
  }

  async stop(): Promise<void> {
    const workers = [...this.children.keys()].filter((name) => name !== 'controller');
    await Promise.all(workers.map((name) => this.end(name, 'SIGTERM')));
    await this.end('controller', 'SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  log(name: string): string {
    return readFileSync(join(this.folder, `${name}.log`), 'utf8');
  }

  private spawn(name: string, program: string, args: string[]): void {
    const log = openSync(join(this.folder, `${name}.log`), 'a');
    const child = spawn(join(this.programs, program), args, { stdio: ['ignore', log, log] });
    this.children.set(name, child);
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
