// Components whose code is loaded when they are first drawn.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Skeleton } from './notice';

// Returns a component that shows a placeholder until its code has arrived. `height`: approximate
// height of the component in pixels.
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  height: number,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [failed, setFailed] = useState(false);
    const [, redraw] = useState(0);
    const request = () => {
      setFailed(false);
      load().then(
        (component) => {
          loaded = component;
          redraw((count) => count + 1);
        },
        () => setFailed(true),
      );
    };
    useEffect(() => {
      if (!loaded) request();
    }, []);
    if (loaded) {
      const Component = loaded;
      return <Component {...props} />;
    }
    if (!failed) return <Skeleton rows={1} height={height} />;
    return (
      <Empty title="This view could not be loaded">
        <button type="button" onClick={request}>
          Try again
        </button>
      </Empty>
    );
  };
}
