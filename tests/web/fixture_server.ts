// Serves the HTTP interface of a fixture cluster, so that tests can make the controller fail or
// become unavailable.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { GetServerInfoResponse, Job, JobState, RankStatus } from '../../web/src/api/types';
import { jobResponse, ranksOf } from './fixture_jobs';
import { logPage } from './fixture_log';
import { nodeResponse } from './fixture_node';
import { problem, type Answer } from './fixture_problem';
import {
  JOB_SCHEMA,
  checkedPlan,
  fileError,
  layoutPlan,
  plannerLists,
  recipeText,
} from './fixture_recipes';
import { NOW, job as newJob, type Cluster } from './fixtures';
import { reportFixture, type Price } from './fixture_report';
import { FixtureSettings, type SentSettings } from './fixture_settings';
import {
  KEYS,
  compareResponse,
  lossReport,
  seriesResponse,
  type StepRange,
} from './fixture_series';
import { arrayResponse } from './fixture_array';
import { dataReportResponse } from './fixture_data';
import { expertsResponse } from './fixture_experts';

// Returns the checks of all nodes. The disk of every node is full.
function checksOf({ nodes }: Cluster) {
  const checks = [
    { name: 'clock', ok: true, found: '0.2 ms from the controller', advice: '' },
    { name: 'disk', ok: false, found: '2.1 GiB free', advice: 'free disk space' },
  ];
  return {
    nodes: nodes.map(({ id, name, state }) => ({ id, name, state, checked_ms: NOW, checks })),
    controller: [],
    as_of_ms: NOW,
  };
}

const DIST = new URL('../../web/dist', import.meta.url).pathname;
const CSP =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "frame-ancestors 'none'; form-action 'none'";
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const HEARTBEAT_MS = 15_000;
export const GRPC_PORT = 17_070;

// Returns a function that compares jobs. Supports the sort orders that tests use. Jobs without a
// value are last.
function orderOf(query: URLSearchParams) {
  const sign = query.get('reverse') === 'true' ? -1 : 1;
  const keyOf = ({ progress, restarts, attempts }: Job): number | undefined => {
    const order = query.get('order');
    if (order === 'restarts') return -restarts;
    if (order === 'best_loss') return progress?.best_loss as number | undefined;
    return order === 'loss' && attempts.length > 0 ? (progress?.loss as number) : undefined;
  };
  return (a: Job, b: Job) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left === undefined || right === undefined) {
      return Number(left === undefined) - Number(right === undefined);
    }
    return sign * (left - right);
  };
}

export class FixtureServer {
  private server: Server | undefined;
  private readonly streams = new Set<ServerResponse>();
  private port = 0;
  notFinite: StepRange | undefined;
  // The controller's price of a GPU-hour.
  price: Price | undefined;
  // The names of every job's series.
  keys: readonly string[] = KEYS;
  // Replaces fields of ranks, by rank.
  readonly rankChanges = new Map<number, Partial<RankStatus>>();
  // Reasons for refusing changes of jobs, by job number.
  readonly refusals = new Map<number, string>();
  readonly settings = new FixtureSettings();
  // Number of finished steps of each data job, at most 3.
  dataSteps = 3;
  capabilities: readonly string[] = [
    'cordon',
    'queues',
    'reservations',
    'stop',
    'submit',
    'topology',
  ];
  // Controllers and their database; nothing if the stores are SQLite files.
  controllers: Pick<GetServerInfoResponse, 'leadership' | 'standbys' | 'database'> = {
    standbys: [],
  };
  // Delay between the jobs and the nodes on a new stream.
  nodesDelayMs = 0;

  constructor(public cluster: Cluster) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  // Starts to listen. A restart uses the port of the first start, so that clients can reconnect.
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.handle(request, response));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const stream of this.streams) stream.destroy();
    this.streams.clear();
    const { server } = this;
    if (!server) return;
    // Stops accepting connections before closing the open connections. In the opposite order, a
    // connection accepted in between would stay open.
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  private counts(): { waiting: number; placed: number } {
    const { jobs, pending } = this.cluster;
    const placed = jobs.filter(({ state }) => ['starting', 'running', 'stopping'].includes(state));
    return { waiting: this.cluster.waitingTotal ?? pending.size, placed: placed.length };
  }

  // Sends one changed job to every open page.
  publish(changed: Job): void {
    const jobs = { snapshot: false, jobs: [changed], pending: {}, as_of_ms: NOW, removed: [] };
    const data = { ...this.counts(), ...jobs };
    for (const stream of this.streams) {
      send(stream, 'jobs', data);
      send(stream, 'job', jobResponse(this.cluster, changed, this.price));
      send(stream, 'metrics', { job_id: changed.id, step: changed.progress?.step ?? 0 });
    }
  }

  // Removes a node and a job, and sends both removals to every open page.
  remove(node: string, job: number): void {
    const { cluster } = this;
    cluster.nodes = cluster.nodes.filter(({ id }) => id !== node);
    cluster.jobs = cluster.jobs.filter(({ id }) => id !== job);
    const none = { snapshot: false, as_of_ms: NOW };
    const jobs = { ...this.counts(), ...none, jobs: [], pending: {}, removed: [job] };
    for (const stream of this.streams) {
      send(stream, 'nodes', { ...none, nodes: [], removed: [node] });
      send(stream, 'jobs', jobs);
    }
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!url.pathname.startsWith('/api/')) return serveFile(url.pathname, response);
    const path = url.pathname.replace('/api/v1', '');
    if (path === '/events/stream') return this.openStream(response);
    const method = request.method ?? 'GET';
    const sent = method === 'POST' ? await bodyOf(request) : {};
    const [status, body] =
      this.answerAboutRecipes(method, path, sent) ??
      this.settings.answer(method, path, sent, this.cluster.pending.size) ??
      this.answer(method, path, url.searchParams);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type });
    response.end(JSON.stringify(body));
  }

  private openStream(response: ServerResponse): void {
    const { cluster } = this;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    send(response, 'hello', {
      cluster_id: cluster.clusterId,
      version: '0.1.0',
      revision: 7,
      as_of_ms: NOW,
      resumed: false,
    });
    const recent = [...cluster.jobs].reverse().slice(0, 200);
    const pending = Object.fromEntries(cluster.pending);
    const all = { snapshot: true, as_of_ms: NOW, removed: [] };
    send(response, 'jobs', { ...this.counts(), ...all, jobs: recent, pending });
    const sendNodes = () => send(response, 'nodes', { ...all, nodes: cluster.nodes });
    if (this.nodesDelayMs === 0) sendNodes();
    else setTimeout(sendNodes, this.nodesDelayMs);
    this.streams.add(response);
    const alive = setInterval(() => response.write(': alive\n\n'), HEARTBEAT_MS);
    response.on('close', () => {
      clearInterval(alive);
      this.streams.delete(response);
    });
  }

  // Returns undefined for other paths.
  private answerAboutRecipes(method: string, path: string, sent: Sent): Answer | undefined {
    const { job_file: text } = sent;
    if (path === '/planner') return [200, method === 'POST' ? layoutPlan() : plannerLists()];
    if (path === '/job-schema.json') return [200, JOB_SCHEMA];
    if (path.startsWith('/recipes/')) {
      const recipe = recipeText(path.slice('/recipes/'.length));
      return recipe ? [200, recipe] : problem(404, 'There is no such recipe');
    }
    const error = text === undefined ? undefined : fileError(text);
    if (error) return problem(400, error);
    if (path === '/plan' && text !== undefined) return [200, checkedPlan(text)];
    return undefined;
  }

  private answer(method: string, path: string, query: URLSearchParams): Answer {
    const { cluster } = this;
    const stamp = { revision: 7, as_of_ms: NOW };
    const newestFirst = [...cluster.events].reverse();
    if (path === '/server') {
      const { storageProblems: storage_problems, warnings } = cluster;
      const { capabilities } = this;
      const shown = { capabilities, storage_problems, warnings, grpc_port: GRPC_PORT };
      return [200, { version: '0.1.0', ...shown, ...this.controllers, ...stamp }];
    }
    if (path === '/series') return [200, compareResponse(cluster.jobs, query)];
    if (path === '/report') return [200, reportFixture(query, this.price)];
    if (path === '/nodes') return [200, { nodes: cluster.nodes, job_names: {}, ...stamp }];
    if (path === '/sessions') return [200, { sessions: [], as_of_ms: NOW }];
    if (path === '/checks') return [200, checksOf(cluster)];
    if (path === '/events') return [200, { events: newestFirst, next_cursor: '', ...stamp }];
    if (path === '/jobs' && method === 'POST') return this.submit();
    if (path === '/jobs') return this.listJobs(query);
    const [, noun, reference = '', command = ''] = path.split('/');
    if (noun === 'nodes' && method === 'GET') return this.aboutNode(reference, query);
    const closes = command !== 'uncordon';
    if (noun === 'nodes' && method === 'POST') return this.cordon(reference, closes);
    const found = cluster.jobs.findLast(
      ({ id, name }) => String(id) === reference || name === decodeURIComponent(reference),
    );
    if (noun !== 'jobs' || !found) {
      return problem(404, `There is no job "${reference}"`, 'GET /api/v1/jobs lists them.');
    }
    return this.aboutJob(found, command, query);
  }

  private aboutNode(reference: string, query: URLSearchParams): Answer {
    const found = this.cluster.nodes.find(({ id }) => id === reference);
    if (!found) return problem(404, `There is no node "${reference}"`);
    return [200, nodeResponse(found, Number(query.get('hours') ?? 24))];
  }

  private aboutJob(found: Job, command: string, query: URLSearchParams): Answer {
    const stamp = { revision: 7, as_of_ms: NOW };
    switch (command) {
      case '':
        return [200, jobResponse(this.cluster, found, this.price)];
      case 'series':
        return [200, seriesResponse(found, query, this.notFinite)];
      case 'experts':
        return [200, expertsResponse(found, query)];
      case 'data':
        return [200, dataReportResponse(found, this.dataSteps)];
      case 'loss':
        return [200, lossReport(found)];
      case 'metrics':
        return [200, { keys: found.progress?.step ? this.keys : [] }];
      case 'logs':
        return [200, logPage(found, query)];
      case 'ranks':
        return [
          200,
          {
            job_id: found.id,
            attempt: found.attempts.length,
            ranks: ranksOf(found, this.cluster.flights).map((rank) => ({
              ...rank,
              ...this.rankChanges.get(rank.rank),
            })),
            ...stamp,
            node_names: Object.fromEntries(this.cluster.nodes.map(({ id, name }) => [id, name])),
          },
        ];
      case 'events':
        return [
          200,
          {
            events: this.cluster.events
              .filter(({ event }) => JSON.stringify(event).includes(`:${found.id},`))
              .reverse(),
            next_cursor: '',
            ...stamp,
          },
        ];
      case 'stop':
      case 'kill':
      case 'pause':
      case 'resume':
        return this.changeJob(found, command);
      case 'move':
        return [200, { job: found }];
      case 'array':
        return [200, arrayResponse(found, query)];
      default:
        return problem(404, `There is no ${command}`);
    }
  }

  private changeJob(found: Job, command: string): Answer {
    const refusal = this.refusals.get(found.id);
    if (refusal) return problem(409, refusal);
    const states: Record<string, JobState> = { pause: 'pausing', resume: 'queued' };
    found.state = states[command] ?? 'stopping';
    this.publish(found);
    return [200, { job: found }];
  }

  private listJobs(query: URLSearchParams): Answer {
    const states = (query.get('states') ?? '').split(',').filter((state) => state !== '');
    const text = (query.get('text') ?? '').toLowerCase();
    const all = [...this.cluster.jobs]
      .reverse()
      .filter(
        (found) =>
          (states.length === 0 || states.includes(found.state)) &&
          `${found.id} ${found.name} ${found.user}`.toLowerCase().includes(text),
      )
      .sort(orderOf(query));
    const from = Number(query.get('cursor') ?? 0);
    const to = from + Number(query.get('limit') ?? 100);
    return [
      200,
      {
        jobs: all.slice(from, to),
        next_cursor: to < all.length ? String(to) : '',
        pending: {},
        total: all.length,
        revision: 7,
        as_of_ms: NOW,
      },
    ];
  }

  private submit(): Answer {
    const id = Math.max(0, ...this.cluster.jobs.map((found) => found.id)) + 1;
    const added = newJob(id, 'again', 'queued');
    this.cluster.jobs.push(added);
    return [200, { job: added }];
  }

  private cordon(reference: string, cordoned: boolean): Answer {
    const found = this.cluster.nodes.find(({ id }) => id === reference);
    if (!found) return problem(404, `There is no node "${reference}"`);
    found.cordoned = cordoned;
    found.word = cordoned ? 'cordoned' : 'ok';
    for (const stream of this.streams) {
      send(stream, 'nodes', { snapshot: false, nodes: [found], as_of_ms: NOW, removed: [] });
    }
    return [200, { node: found }];
  }
}

interface Sent extends SentSettings {
  job_file?: string;
}

async function bodyOf(request: IncomingMessage): Promise<Sent> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString() || '{}') as Sent;
}

function send(stream: ServerResponse, kind: string, data: unknown): void {
  stream.write(`event: ${kind}\nid: 7\ndata: ${JSON.stringify(data)}\n\n`);
}

async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const asset = extname(path) !== '';
  const file = join(DIST, normalize(asset ? path : '/index.html'));
  try {
    const body = await readFile(file);
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-security-policy': CSP });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}
