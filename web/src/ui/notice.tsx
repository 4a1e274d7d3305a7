// Notices in place of content that is loading, empty or failed. Each kind looks different.
import type { ComponentChildren } from 'preact';
import type { RequestError } from '../api/client';
import { Icon } from './icon';

export function Skeleton({ rows = 3, height = 20 }: { rows?: number; height?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} style={{ height: `${height}px`, width: `${96 - ((index * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

export const EmptyState = ({ words }: { words: { title: string; text: string } }) => (
  <Empty title={words.title}>{words.text}</Empty>
);

export function Failure({ error, retry }: { error: RequestError; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <Icon name="warn" />
      <div>
        <p>{error.message}</p>
        {error.hint && <p class="faint">{error.hint}</p>}
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
