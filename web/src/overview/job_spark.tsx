import { useEffect, useRef, useState } from 'preact/hooks';
import { clock, holdsSlots } from '../api/store';
import type { GetSeriesResponse, Job } from '../api/types';
import { Sparkline } from '../chart/sparkline';
import { useLoad } from '../ui/load';
import { jobColor } from './cluster_map';

const BUCKETS = 60;
const REFRESH_MS = 10_000;

// True after the element has been visible for `settleMs`. Used to fetch only visible curves.
function useSeen(settleMs: number): [preact.RefObject<HTMLSpanElement | null>, boolean] {
  const host = useRef<HTMLSpanElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(timer);
      if (entry?.isIntersecting) timer = setTimeout(() => setSeen(true), settleMs);
    });
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, []);
  return [host, seen];
}

export interface JobSparkProps {
  job: Job;
  // A curve that is visible for a shorter time, because its list scrolls, is not requested.
  settleMs?: number;
}

// A small curve of the job's loss so far.
export function JobSpark({ job, settleMs = 0 }: JobSparkProps) {
  const [host, seen] = useSeen(settleMs);
  const path = seen ? `/jobs/${job.id}/series` : undefined;
  const tick = holdsSlots(job) ? Math.floor(clock.value / REFRESH_MS) : 0;
  const { data } = useLoad<GetSeriesResponse>(
    path,
    { keys: 'loss', buckets: BUCKETS, fields: 'mean' },
    String(job.id),
    tick,
  );
  const values = data?.series[0]?.mean ?? [];
  return (
    <span ref={host} class="spark-host">
      {values.length > 1 && (
        <Sparkline values={values} label={`Loss of ${job.name} so far`} color={jobColor(job.id)} />
      )}
    </span>
  );
}
