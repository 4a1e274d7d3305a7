import { useEffect, useState } from 'preact/hooks';
import { clock, connected, receivedAt, stale } from '../api/store';
import { duration } from '../format/time';
import { Icon } from './icon';

// Shorter interruptions are not announced, because every tab is briefly disconnected when it
// becomes visible.
const ANNOUNCE_AFTER_MS = 3_000;

// For screen readers. Announces each loss and each return of the connection once. Does not announce
// the age of the data, because it changes every second.
function Announcement() {
  const lost = stale.value;
  const [words, setWords] = useState('');
  useEffect(() => {
    if (!lost) {
      setWords((old) => (old === '' ? '' : 'Connection restored.'));
      return undefined;
    }
    const announce = () => setWords('Connection lost. Data may be stale.');
    const timer = setTimeout(announce, ANNOUNCE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  return (
    <span class="hidden" role="status">
      {words}
    </span>
  );
}

function Age() {
  if (connected.value) {
    return (
      <span class="connection live">
        <Icon name="dot" />
        <span>live</span>
      </span>
    );
  }
  if (receivedAt.value === 0) {
    return (
      <span class="connection stale">
        <Icon name="warn" />
        connecting
      </span>
    );
  }
  const seconds = Math.max(0, Math.round((clock.value - receivedAt.value) / 1000));
  return (
    <span
      class="connection stale"
      title={`Data may be stale (last update ${duration(seconds)} ago). Reconnecting every second.`}
    >
      <Icon name="warn" />
      stale {duration(seconds)}
    </span>
  );
}

// Shows "live", or the age of the data while the controller does not answer.
export function Connection() {
  return (
    <>
      <Age />
      <Announcement />
    </>
  );
}
