// The columns of the table of elements. Pure functions.
import type { ArrayRow } from '../api/types';

// The keys of the matrix, in the order of the settings of each element.
export const settingKeys = (rows: readonly ArrayRow[]): string[] =>
  (rows[0]?.settings ?? []).map(({ key }) => key);

export const settingOf = (row: ArrayRow, key: string): string =>
  row.settings.find((setting) => setting.key === key)?.value ?? '';

export interface Order {
  by: string;
  reverse: boolean;
}

// A second click on a column reverses its order.
export const nextOrder = (order: Order, by: string): Order => ({
  by,
  reverse: order.by === by && !order.reverse,
});
