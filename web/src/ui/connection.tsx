import { clock, connected, heardAt } from '../api/store';
import { duration } from '../format/time';
import { Icon } from './icon';

// Says how old the page is when the controller is away; silent words while all is well.
export function Connection() {
  if (connected.value) {
    return (
      <span class="connection live">
        <Icon name="dot" />
        <span>live</span>
      </span>
    );
  }
  if (heardAt.value === 0) {
    const waits = clock.value > 0;
    return (
      <span class="connection stale" role="status">
        <Icon name="warn" />
        {waits ? 'connecting' : ''}
      </span>
    );
  }
  const seconds = Math.max(0, Math.round((clock.value - heardAt.value) / 1000));
  return (
    <span
      class="connection stale"
      role="status"
      title="The controller does not answer. What you see is this old; trying again each second."
    >
      <Icon name="warn" />
      stale {duration(seconds)}
    </span>
  );
}
