// A latency map as cells: rows of latencies, columns of time.
import type { Column } from "../data/documents";

export interface Row {
  gt_us: number;
  le_us: number | null;
}

export interface Cells {
  /** From the shortest up. */
  rows: Row[];
  /** When each column begins and ends, seconds since the epoch. */
  starts: number[];
  ends: number[];
  /** By column and row; null where nothing was measured. */
  counts: (number[] | null)[];
  waited_us: (number[] | null)[];
}

/** Columns and rows from one corner to the other, both in it. */
export interface Area {
  columns: [number, number];
  rows: [number, number];
}

export function cells(columns: readonly Column[]): Cells {
  const edges = new Map<number, Row>();
  for (const column of columns)
    for (const { gt_us, le_us } of column.buckets ?? []) if (!edges.has(gt_us)) edges.set(gt_us, { gt_us, le_us });
  const rows = withEmpty([...edges.values()].sort((one, other) => one.gt_us - other.gt_us));
  const place = new Map(rows.map((row, number) => [row.gt_us, number]));
  const spread = (column: Column, of: "count" | "waited_us"): number[] | null => {
    if (column.buckets === null) return null;
    const values = new Array<number>(rows.length).fill(0);
    for (const bucket of column.buckets)
      values[place.get(bucket.gt_us)!]! += bucket[of] ?? middle(bucket) * bucket.count;
    return values;
  };
  const ends = columns.map(column => Date.parse(column.end) / 1000);
  return {
    rows,
    ends,
    starts: columns.map((column, number) => ends[number]! - column.interval_s),
    counts: columns.map(column => spread(column, "count")),
    waited_us: columns.map(column => spread(column, "waited_us")),
  };
}

/** Latencies between rows that nothing took have rows too, twice as long each as the one before: the scale is one. */
function withEmpty(rows: readonly Row[]): Row[] {
  const all: Row[] = [];
  for (const row of rows) {
    for (let edge = all.at(-1)?.le_us; edge && edge < row.gt_us; edge = all.at(-1)!.le_us)
      all.push({ gt_us: edge, le_us: Math.min(edge * 2, row.gt_us) });
    all.push(row);
  }
  return all;
}

/** Where a source does not measure the time of a bucket: docs/reference/map.md. */
function middle({ gt_us, le_us }: Row): number {
  return le_us === null ? gt_us : (gt_us + le_us) / 2;
}

/** The sum of each row over some columns. */
export function rowSums(values: readonly (number[] | null)[], rows: number, [first, last]: [number, number]): number[] {
  const sums = new Array<number>(rows).fill(0);
  for (const column of values.slice(first, last + 1)) column?.forEach((value, row) => (sums[row]! += value));
  return sums;
}

export function areaSum(values: readonly (number[] | null)[], area: Area): number {
  const [low, high] = area.rows;
  return rowSums(values, high + 1, area.columns)
    .slice(low, high + 1)
    .reduce((sum, value) => sum + value, 0);
}

export function ordered(one: number, other: number): [number, number] {
  return one < other ? [one, other] : [other, one];
}
