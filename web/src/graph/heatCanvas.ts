// A latency map on a canvas: shades, latencies at the left, times below, the sums of all columns at the right.
import { latency, tick } from "../words";
import { drawn } from "./colours";
import { rowSums, type Area, type Cells } from "./heat";

export type Measure = "counts" | "waited_us";

// ColorBrewer's sequential Blues and YlOrRd (C. Brewer, M. Harrower, 2003), blue for counts and red for time, as OraLatencyMap.
const PALETTES: Record<Measure, string[]> = {
  counts: ["#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"],
  waited_us: ["#ffeda0", "#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026"],
};
const LEFT = 64;
const BELOW = 22;
const MOST_SIDE = 110;
const GAP = 8;
const LABEL_PX = 70;

export interface Frame {
  left: number;
  width: number;
  /** How wide the sums at the right may be. */
  side: number;
  height: number;
}

/** The part of the canvas that holds the cells. */
export function frame(canvas: { clientWidth: number; clientHeight: number }): Frame {
  const side = Math.min(MOST_SIDE, canvas.clientWidth / 6);
  return {
    left: LEFT,
    width: Math.max(canvas.clientWidth - LEFT - side - GAP, 50),
    side,
    height: canvas.clientHeight - BELOW,
  };
}

export interface View {
  measure: Measure;
  cursor: [column: number, row: number] | null;
  area: Area | null;
}

export function draw(canvas: HTMLCanvasElement, cells: Cells, view: View): void {
  const scale = devicePixelRatio;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const ctx = canvas.getContext("2d")!;
  ctx.scale(scale, scale);
  ctx.font = "11px system-ui, sans-serif";
  const place = frame(canvas);
  shades(ctx, cells, view.measure, place);
  latencies(ctx, cells, place);
  times(ctx, cells, place);
  sums(ctx, cells, view, place);
  if (view.area) outline(ctx, view.area, cells, place, [5, 3]);
  if (view.cursor)
    outline(
      ctx,
      { columns: [view.cursor[0], view.cursor[0]], rows: [view.cursor[1], view.cursor[1]] },
      cells,
      place,
      [],
    );
}

/** The square root of a share: few are seen beside many. On dark paper the order is turned, so that few are dark. */
function shade(value: number, most: number, palette: string[]): string {
  const level = Math.min(Math.floor(Math.sqrt(value / most) * palette.length), palette.length - 1);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return palette[dark ? palette.length - 1 - level : level]!;
}

function shades(ctx: CanvasRenderingContext2D, cells: Cells, measure: Measure, place: Frame): void {
  const most = Math.max(...cells[measure].flatMap(column => column ?? []), 0);
  const [wide, high] = [place.width / cells.ends.length, place.height / cells.rows.length];
  cells[measure].forEach((column, x) => {
    const left = place.left + x * wide;
    if (column === null) hatch(ctx, left, wide, place.height);
    column?.forEach((value, row) => {
      if (!value) return;
      ctx.fillStyle = shade(value, most, PALETTES[measure]);
      ctx.fillRect(left, place.height - (row + 1) * high, Math.ceil(wide), Math.ceil(high));
    });
  });
  ctx.strokeStyle = drawn("rule");
  ctx.strokeRect(place.left + 0.5, 0.5, place.width, place.height);
}

/** Not measured is not blank. */
function hatch(ctx: CanvasRenderingContext2D, left: number, wide: number, high: number): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, 0, wide, high);
  ctx.clip();
  ctx.strokeStyle = drawn("rule");
  ctx.beginPath();
  for (let y = 0; y < high + wide; y += 6) {
    ctx.moveTo(left, y);
    ctx.lineTo(left + wide, y - wide);
  }
  ctx.stroke();
  ctx.restore();
}

function latencies(ctx: CanvasRenderingContext2D, cells: Cells, place: Frame): void {
  const high = place.height / cells.rows.length;
  const every = Math.max(1, Math.ceil(16 / high));
  ctx.fillStyle = drawn("quiet");
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  cells.rows.forEach((row, number) => {
    if (number % every === 0 && number) ctx.fillText(latency(row.gt_us), place.left - 5, place.height - number * high);
  });
}

function times(ctx: CanvasRenderingContext2D, cells: Cells, place: Frame): void {
  const count = cells.ends.length;
  const every = Math.max(1, Math.ceil((count * LABEL_PX) / place.width));
  const step = ((cells.ends.at(-1) ?? 0) - (cells.starts[0] ?? 0)) / Math.max(count / every, 1);
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  for (let column = 0; (count - column) * (place.width / count) >= LABEL_PX; column += every)
    ctx.fillText(tick(cells.starts[column]!, step), place.left + (column * place.width) / count, place.height + 6);
}

/** How the waits of all columns, or of those selected, are spread. */
function sums(ctx: CanvasRenderingContext2D, cells: Cells, view: View, place: Frame): void {
  const columns: [number, number] = view.area?.columns ?? [0, cells.ends.length - 1];
  const values = rowSums(cells[view.measure], cells.rows.length, columns);
  const most = Math.max(...values, 1e-9);
  const high = place.height / cells.rows.length;
  const left = place.left + place.width + GAP;
  ctx.fillStyle = drawn("quiet");
  values.forEach((value, row) =>
    ctx.fillRect(left, place.height - (row + 1) * high + 0.5, (value / most) * place.side, Math.max(high - 1, 1)),
  );
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.fillText(view.measure === "counts" ? "waits" : "time waited", left, place.height + 6);
}

function outline(ctx: CanvasRenderingContext2D, area: Area, cells: Cells, place: Frame, dash: number[]): void {
  const [wide, high] = [place.width / cells.ends.length, place.height / cells.rows.length];
  const [first, last] = area.columns;
  const [low, top] = area.rows;
  ctx.save();
  ctx.setLineDash(dash);
  ctx.lineWidth = 2;
  ctx.strokeStyle = drawn("ink");
  ctx.strokeRect(
    place.left + first * wide,
    place.height - (top + 1) * high,
    (last - first + 1) * wide,
    (top - low + 1) * high,
  );
  ctx.restore();
}
