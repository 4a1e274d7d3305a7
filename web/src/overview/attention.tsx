// The items that need the attention of a person on duty, or one line that says that all is well. A
// new cluster shows its first steps instead of that line.
import {
  clock,
  connected,
  live,
  receivedAt,
  runningJobs,
  serverNow,
} from '../api/store';
import type { Node } from '../api/types';
import { count, plural } from '../format/numbers';
import { ago, fullTime } from '../format/time';
import { sinceText } from '../job/health';
import { Link } from '../router/router';
import { Badge, NodeBadge } from '../ui/badge';
import { withCode } from '../ui/code_text';
import { Icon } from '../ui/icon';
import {
  attentionGroups,
  type AttentionGroup,
  type AttentionItem,
  type AttentionView,
} from './attention_items';
import { isNew } from './first_steps';
import { hasProblem } from './node_problems';

// Maximum number of items of one kind that are listed.
const LISTED = 6;

function Time({ item }: { item: AttentionItem }) {
  const now = serverNow.value;
  if (item.atMs) return <time title={fullTime(item.atMs)}>{ago(item.atMs, now)}</time>;
  if (item.sinceMs <= 0) return null;
  return <time title={fullTime(item.sinceMs)}>{sinceText(item.sinceMs, now)}</time>;
}

function Item({ item }: { item: AttentionItem }) {
  return (
    <li>
      {item.node ? <NodeBadge node={item.node} /> : item.look && <Badge look={item.look} />}
      <p class="attention-name">
        {item.href ? (
          <Link href={item.href} data-row>
            {item.name}
          </Link>
        ) : (
          <b>{item.name}</b>
        )}
        {item.job !== undefined && <span class="number">#{item.job}</span>}
      </p>
      <p class="attention-text" role={item.href ? undefined : 'alert'}>
        {withCode(item.text)}
        {item.ranks && (
          <>
            {' · '}
            <Link href={item.ranks.href}>{item.ranks.text}</Link>
          </>
        )}
      </p>
      <p class="attention-time">
        <Time item={item} />
      </p>
    </li>
  );
}

function More({ group }: { group: AttentionGroup }) {
  const left = group.items.length - LISTED;
  if (left <= 0) return null;
  return (
    <li class="attention-more">
      <Link href={group.all}>
        {count(left)} more {group.plural}
      </Link>
    </li>
  );
}

function AllIsWell({ nodes }: { nodes: readonly Node[] }) {
  const running = Math.max(live.value.placed, runningJobs.value?.length ?? 0);
  const ready = nodes.filter((node) => !hasProblem(node)).length;
  const word = connected.value
    ? 'All is well'
    : `All was well ${ago(receivedAt.value, clock.value)}, at the last update`;
  return (
    <p class="all-is-well">
      <Icon name="check" />
      <b>{word}:</b> {plural(running, 'job')} running, {plural(ready, 'node')} ready.
    </p>
  );
}

export function Attention(view: Omit<AttentionView, 'nowMs'>) {
  const groups = attentionGroups({ ...view, nowMs: serverNow.value });
  const amount = groups.reduce((sum, { items }) => sum + items.length, 0);
  if (isNew() && amount === 0) return null;
  return (
    <section class="card attention" aria-labelledby="attention-title">
      <header class={amount > 0 ? '' : 'hidden'}>
        <h2 id="attention-title">Needs attention</h2>
        {amount > 0 && <p class="faint">{count(amount)}</p>}
      </header>
      {amount === 0 && <AllIsWell nodes={view.nodes} />}
      {amount > 0 && (
        <ul>
          {groups.flatMap((group) => [
            ...group.items.slice(0, LISTED).map((item) => <Item key={item.key} item={item} />),
            <More key={group.plural} group={group} />,
          ])}
        </ul>
      )}
    </section>
  );
}
