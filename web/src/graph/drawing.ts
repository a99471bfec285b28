// What is drawn on a graph beside its lines: axes, a level with its name, names on bands, a time that is pointed at.
import uPlot from "uplot";
import { tick } from "../words";
import { drawn } from "./colours";
import type { Values } from "./stack";

export interface Level {
  at: number;
  label: string;
}

const FONT = "system-ui, sans-serif";
const LETTER_PX = 6.2;

export function series(colour: number, form: "band" | "line" | "thin"): uPlot.Series {
  const ink = drawn(`c${colour}`);
  return {
    stroke: form === "band" ? drawn("paper") : form === "thin" ? drawn("ink") : ink,
    width: form === "line" ? 1.5 : form === "thin" ? 1 : 0.5,
    ...(form === "band" ? { fill: ink } : {}),
    ...(form === "thin" ? { dash: [2, 2] } : {}),
    paths: uPlot.paths.stepped!({ align: -1 }),
    points: { show: false },
  };
}

const axis = (): uPlot.Axis => ({
  stroke: drawn("quiet"),
  font: `11px ${FONT}`,
  grid: { stroke: drawn("rule"), width: 1 },
  ticks: { show: false },
  gap: 4,
});

export function axisOfTime(): uPlot.Axis {
  const values = (_: uPlot, splits: number[]) => splits.map(at => tick(at, (splits[1] ?? at) - (splits[0] ?? at)));
  return { ...axis(), space: 70, size: 22, values };
}

export function axisOfValues(said: (value: number) => string): uPlot.Axis {
  const values = (_: uPlot, splits: number[]) =>
    splits.map(at => (at === 0 ? "0" : said(at).replace(/\.0+(?= |$)/, "")));
  const size = (_: uPlot, labels: string[] | null) =>
    16 + LETTER_PX * Math.max(...(labels ?? []).map(label => label.length), 4);
  return { ...axis(), space: 34, size, values };
}

/** The time that is pointed at. */
export function shade(chart: uPlot, marked: readonly [number, number] | null): void {
  if (!marked) return;
  const { left, width, top, height } = chart.bbox;
  // All of it is no part to point at.
  if (marked[0] <= chart.scales.x!.min! + 1 && marked[1] >= chart.scales.x!.max! - 1) return;
  const [from, to] = marked.map(at => Math.min(Math.max(chart.valToPos(at, "x", true), left), left + width));
  chart.ctx.fillStyle = drawn("mark");
  chart.ctx.fillRect(from!, top, Math.max(to! - from!, 2), height);
}

/** A small mark at the top for each moment at which something happened. */
export function moments(chart: uPlot, at: readonly number[]): void {
  const { ctx, bbox } = chart;
  const size = 5 * devicePixelRatio;
  ctx.fillStyle = drawn("ink");
  for (const moment of at) {
    const x = chart.valToPos(moment, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x - size, bbox.top);
    ctx.lineTo(x + size, bbox.top);
    ctx.lineTo(x, bbox.top + 1.5 * size);
    ctx.fill();
  }
}

export function levelLine(chart: uPlot, level: Level): void {
  const { ctx, bbox } = chart;
  const y = chart.valToPos(level.at, "y", true);
  ctx.save();
  ctx.strokeStyle = drawn("ink");
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([7 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  letters(ctx, level.label, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
  ctx.restore();
}

/** A band's name on it, in the middle of the longest stretch that has room for letters: no meaning by colour alone. */
export function bandName(chart: uPlot, label: string, edge: Values, below: Values | null): void {
  const { ctx, bbox } = chart;
  const heights = edge.map((value, at) => (value ?? 0) - (below?.[at] ?? 0));
  const [middle, length] = longest(heights, chart.posToVal(0, "y") - chart.posToVal(16, "y"));
  const width = widthOf(ctx, label);
  if (!length || (length / heights.length) * bbox.width < width) return;
  const x = chart.valToPos(chart.data[0]![middle] ?? 0, "x", true) - width / 2;
  const y = chart.valToPos((edge[middle] ?? 0) - heights[middle]! / 2, "y", true) + 4 * devicePixelRatio;
  ctx.save();
  letters(ctx, label, Math.min(Math.max(x, bbox.left + 4 * devicePixelRatio), bbox.left + bbox.width - width), y);
  ctx.restore();
}

/** Middle and length of the longest run of values that are as large as that. */
export function longest(values: readonly number[], least: number): [middle: number, length: number] {
  let [middle, length, run] = [0, 0, 0];
  values.forEach((value, at) => {
    run = value >= least ? run + 1 : 0;
    if (run > length) [middle, length] = [at - Math.floor(run / 2), run];
  });
  return [middle, length];
}

function widthOf(ctx: CanvasRenderingContext2D, text: string): number {
  ctx.font = `${11 * devicePixelRatio}px ${FONT}`;
  return ctx.measureText(text).width + 8 * devicePixelRatio;
}

/** Letters with an edge of paper: legible on each colour. */
function letters(ctx: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  ctx.font = `${11 * devicePixelRatio}px ${FONT}`;
  ctx.setLineDash([]);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.strokeStyle = drawn("paper");
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillStyle = drawn("ink");
  ctx.fillText(text, x, y);
}
