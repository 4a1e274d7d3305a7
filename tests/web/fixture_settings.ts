// The queues, the reservations and the topology of the fixture server, and their changes.
import type {
  GetTopologyResponse,
  NodeReservation,
  Queue,
  QueueState,
} from '../../web/src/api/types';
import { problem, type Answer } from './fixture_problem';
import { NOW } from './fixtures';

// The parts of bodies that change settings.
export interface SentSettings {
  queue?: Queue;
  reservation?: NodeReservation;
  topology_file?: string;
}

const NO_TOPOLOGY: GetTopologyResponse = {
  levels: [],
  groups: [],
  level_figures: [],
  absent_nodes: [],
  other_nodes: [],
  revision: 7,
  as_of_ms: NOW,
};

export class FixtureSettings {
  queues: QueueState[] = [];
  reservations: NodeReservation[] = [];
  topology = NO_TOPOLOGY;
  // The topology after a change.
  nextTopology = NO_TOPOLOGY;
  // Sentences about running jobs that a change concerns.
  warnings: string[] = [];
  // Answer to the next change instead of the change.
  refusal: { status: number; detail: string } | undefined;

  // Returns undefined for other paths.
  answer(method: string, path: string, sent: SentSettings, waiting: number): Answer | undefined {
    const [, noun = '', encoded = ''] = path.split('/');
    if (!['queues', 'reservations', 'topology'].includes(noun)) return undefined;
    if (method === 'GET') return [200, this.list(noun, waiting)];
    if (this.refusal) {
      const { status, detail } = this.refusal;
      this.refusal = undefined;
      return problem(status, detail);
    }
    const name = decodeURIComponent(encoded);
    return [200, method === 'DELETE' ? this.remove(noun, name) : this.set(noun, name, sent)];
  }

  private list(noun: string, waiting: number): unknown {
    const stamp = { revision: 7, as_of_ms: NOW };
    if (noun === 'topology') return this.topology;
    if (noun === 'reservations') return { reservations: this.reservations, as_of_ms: NOW };
    return { queues: this.queues, jobs: [], waiting_jobs: waiting, ...stamp };
  }

  private remove(noun: string, name: string): unknown {
    if (noun === 'queues') this.queues = this.queues.filter(({ queue }) => queue?.name !== name);
    else this.reservations = this.reservations.filter((one) => one.name !== name);
    return {};
  }

  private set(noun: string, name: string, sent: SentSettings): unknown {
    const { warnings } = this;
    if (noun === 'topology') {
      this.topology = this.nextTopology;
      return { topology: this.topology, warnings };
    }
    if (noun === 'reservations') {
      const reservation = { ...sent.reservation!, name };
      this.reservations.push(reservation);
      return { reservation, warnings };
    }
    const state = { queue: { ...sent.queue!, name }, slots: [] };
    this.queues = [...this.queues.filter(({ queue }) => queue?.name !== name), state];
    return { queue: state };
  }
}
