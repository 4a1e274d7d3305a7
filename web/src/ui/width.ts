import { useLayoutEffect, useRef, useState } from 'preact/hooks';

// Returns a ref for an element, and the element's width in pixels. The width is `initial` until the
// element is drawn.
export function useWidth<Element extends HTMLElement>(initial: number) {
  const host = useRef<Element>(null);
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { host, width };
}
