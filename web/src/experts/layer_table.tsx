// The balance of each layer as a table. The table has the figures of the map in words.
import type { ExpertBalance, JsonNumber, LayerBalance } from '../api/types';
import { ABSENT, percent } from '../format/numbers';
import { Table, type Column } from '../ui/table';
import { busiestExpert, digits, idleExperts } from './balance';

const figure = (value: JsonNumber | undefined): string =>
  typeof value === 'number' ? digits(value) : ABSENT;

const COLUMNS: readonly Column<LayerBalance>[] = [
  { name: 'Layer', width: '70px', right: true, cell: ({ layer }) => layer },
  { name: 'Balance', width: '90px', right: true, cell: ({ balance }) => figure(balance) },
  { name: 'Entropy', width: '90px', right: true, cell: ({ entropy }) => figure(entropy) },
  {
    name: 'Balance loss',
    width: '110px',
    right: true,
    priority: 2,
    cell: ({ aux_loss: loss }) => figure(loss),
  },
  {
    name: 'Dropped',
    width: '90px',
    right: true,
    priority: 2,
    cell: ({ dropped }) => (typeof dropped === 'number' ? percent(dropped, 1) : ABSENT),
  },
  {
    name: 'Busiest expert',
    width: '120px',
    right: true,
    priority: 2,
    cell: (layer) => busiestExpert(layer) ?? ABSENT,
  },
  {
    name: 'Without rows',
    right: true,
    cell: (layer) => (layer.load.length > 0 ? idleExperts(layer) : ABSENT),
  },
];

export function LayerTable({ balance }: { balance: ExpertBalance }) {
  return (
    <Table
      label="Balance of layers"
      columns={COLUMNS}
      rows={balance.layers}
      rowKey={({ layer }) => layer}
    />
  );
}
