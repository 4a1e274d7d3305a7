// A table that draws only its visible rows, so that 10,000 rows are as fast as 10.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { prefetchLink } from '../job/prefetch';
import { navigate } from '../router/router';
import { rowWindow } from './windowing';

export interface Column<T> {
  name: string;
  // Such as "120px". Columns without a width share the remaining space.
  width?: string;
  // Right-aligned, for numbers.
  right?: boolean;
  // When the view is narrow, columns with the highest number are hidden first.
  priority?: 1 | 2 | 3 | 4;
  // If set, the column's header is a button that sorts the table by this order.
  sort?: string;
  // The name is only for screen readers.
  quietName?: boolean;
  // Shown in the header instead of the name.
  head?: ComponentChildren;
  cell: (row: T) => ComponentChildren;
}

export interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
  // The URL that a click on the row opens.
  rowHref?: (row: T) => string;
  // Total number of rows, if `rows` does not contain all of them.
  total?: number;
  // Called when the user scrolls close to the end of `rows`.
  onEnd?: () => void;
  // The height of each row.
  rowPx?: number;
  sorted?: { by: string; reverse: boolean; onSort: (by: string) => void };
}

const DEFAULT_ROW_PX = 36;
// Approximate height of the page above a table.
const HEAD_PX = 200;
// Tables with at least this many rows have a scroll bar. Shorter tables scroll with the page.
const SCROLL_FROM = 60;

function Head<T>({ columns, sorted }: Pick<TableProps<T>, 'columns' | 'sorted'>) {
  const direction = sorted?.reverse ? 'descending' : 'ascending';
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const active = sorted && column.sort === sorted.by;
          return (
            <th
              key={column.name}
              scope="col"
              aria-sort={active ? direction : undefined}
              class={`${column.right ? 'right' : ''} p${column.priority ?? 1}`}
            >
              {column.sort && sorted ? (
                <button type="button" onClick={() => sorted.onSort(column.sort as string)}>
                  {column.name}
                  {active ? (sorted.reverse ? ' ↑' : ' ↓') : ''}
                </button>
              ) : column.head ? (
                column.head
              ) : (
                <span class={column.quietName ? 'hidden' : ''}>{column.name}</span>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

// Opens the row. Does nothing if the click was on a control, or if text is selected.
function openRow(event: MouseEvent, href: string): void {
  const target = event.target as HTMLElement;
  if (target.closest('a, button, input, label') || getSelection()?.toString()) return;
  if (event.metaKey || event.ctrlKey) window.open(href, '_blank');
  else navigate(href);
}

export function Table<T>(props: TableProps<T>) {
  const { columns, rows, rowKey, rowHref, onEnd, rowPx = DEFAULT_ROW_PX } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const shownRows = useRef(0);
  // An estimate, because measuring the element would cause a second layout of the page.
  const [view, setView] = useState(() => ({
    top: 0,
    height: Math.max(200, innerHeight - HEAD_PX),
  }));
  const scrolls = rows.length >= SCROLL_FROM;
  const look = () => {
    const element = scroller.current;
    if (!element || !scrolls) return;
    const [top, height] = [element.scrollTop, element.clientHeight];
    setView((old) => (old.top === top && old.height === height ? old : { top, height }));
    const left = element.scrollHeight - element.clientHeight - element.scrollTop;
    if (left < 40 * rowPx) onEnd?.();
  };
  const newest = useRef(look);
  newest.current = look;
  useEffect(() => {
    const element = scroller.current;
    if (!element || !scrolls) return undefined;
    // The observer is also called once at the beginning, when the layout is known.
    const observer = new ResizeObserver(() => newest.current());
    observer.observe(element);
    return () => observer.disconnect();
  }, [scrolls]);
  useEffect(() => {
    if (shownRows.current > 0) newest.current();
    shownRows.current = rows.length;
  }, [rows.length]);
  const shown = scrolls
    ? rowWindow(rows.length, rowPx, view.top, view.height)
    : { first: 0, last: rows.length, above: 0, below: 0 };
  return (
    <div
      ref={scroller}
      class={`table-scroll ${scrolls ? 'scrolls' : ''}`}
      onScroll={look}
      tabIndex={scrolls ? 0 : -1}
      role="region"
      aria-label={props.label}
    >
      <table
        aria-rowcount={props.total ?? rows.length}
        style={{ '--row-height': `${rowPx}px` }}
      >
        <colgroup>
          {columns.map((column) => (
            <col
              key={column.name}
              class={`p${column.priority ?? 1}`}
              style={column.width ? { width: column.width } : {}}
            />
          ))}
        </colgroup>
        <Head columns={columns} sorted={props.sorted} />
        <tbody>
          {shown.above > 0 && <tr class="spacer" style={{ height: `${shown.above}px` }} />}
          {rows.slice(shown.first, shown.last).map((row, offset) => (
            <tr
              key={rowKey(row)}
              aria-rowindex={shown.first + offset + 1}
              class={rowHref ? 'opens' : ''}
              onClick={rowHref && ((event) => openRow(event, rowHref(row)))}
              onPointerDown={
                rowHref && ((event) => event.button === 0 && prefetchLink(rowHref(row)))
              }
            >
              {columns.map((column) => (
                <td
                  key={column.name}
                  class={`${column.right ? 'right' : ''} p${column.priority ?? 1}`}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {shown.below > 0 && <tr class="spacer" style={{ height: `${shown.below}px` }} />}
        </tbody>
      </table>
    </div>
  );
}
