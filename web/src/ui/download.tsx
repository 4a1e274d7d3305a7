// Downloads of files.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { asRequestError, getBlob } from '../api/client';
import { Icon } from './icon';

export function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // By then, the browser has read the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

interface DownloadProps {
  // URL of the file on the controller.
  address: string;
  name: string;
  class?: string;
  'aria-label'?: string;
  children: ComponentChildren;
}

// A button, not a link, because the request needs the session header.
export function Download({ address, name, children, class: look = '', ...rest }: DownloadProps) {
  const [state, setState] = useState<{ busy: boolean; error: string }>({ busy: false, error: '' });
  const fetchFile = async () => {
    setState({ busy: true, error: '' });
    try {
      download(name, await getBlob(address));
      setState({ busy: false, error: '' });
    } catch (failure) {
      setState({ busy: false, error: asRequestError(failure).message });
    }
  };
  return (
    <>
      <button
        type="button"
        class={look}
        disabled={state.busy}
        aria-busy={state.busy}
        onClick={() => void fetchFile()}
        {...rest}
      >
        <Icon name="down" />
        {children}
      </button>
      {state.error && (
        <span class="download-error" role="alert">
          Download failed: {state.error}
        </span>
      )}
    </>
  );
}
