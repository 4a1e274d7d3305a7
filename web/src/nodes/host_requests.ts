// CPU cores and memory that the ranks on a node request. Pure functions.
import type { Node } from '../api/types';
import { bytes } from '../format/numbers';

type Host = Pick<Node, 'slot_uses' | 'inventory'>;

// Returns the sum of the requests of all ranks.
export function requestedOn({ slot_uses: uses }: Pick<Node, 'slot_uses'>) {
  return uses.reduce(
    (sum, use) => ({
      cpus: sum.cpus + use.requested_cpus,
      memory: sum.memory + use.requested_memory_bytes,
    }),
    { cpus: 0, memory: 0 },
  );
}

// Returns a text such as "64 CPU cores; ranks request 16 cores, 128 GiB". Requests of 0 are left
// out.
export function hostNote(node: Host): string | undefined {
  const { cpus, memory } = requestedOn(node);
  const cores = node.inventory?.cpu_cores;
  const requests = [cpus > 0 && `${cpus} cores`, memory > 0 && bytes(memory)].filter(Boolean);
  const parts = [
    cores ? `${cores} CPU cores` : '',
    requests.length > 0 ? `ranks request ${requests.join(', ')}` : '',
  ].filter(Boolean);
  return parts.length > 0 ? parts.join('; ') : undefined;
}
