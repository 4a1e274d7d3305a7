import { useState } from 'preact/hooks';
import { Icon } from './icon';

// Falls back to a deprecated browser command, because browsers do not offer the clipboard API to
// pages loaded over plain HTTP.
function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return Promise.resolve();
}

// A command line, with a button that copies it.
export function CommandLine({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <div class="command-line">
      <code>{text}</code>
      <button type="button" class="quiet" onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} />
        <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
      </button>
    </div>
  );
}
