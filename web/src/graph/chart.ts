// A uPlot chart of bands or lines that takes new values without being made anew, so that a live one can be dragged on.
import uPlot from "uplot";
import { axisOfTime, axisOfValues, bandName, levelLine, moments, series, shade, type Level } from "./drawing";
import { bandAt, covering, fromStart, stacked, type Values } from "./stack";

export interface Shown {
  label: string;
  colour: number;
  values: Values;
  /** Drawn as a thin line above all, not as a band. */
  thin?: boolean;
}

export interface Drawing {
  times: readonly number[];
  bucket: number;
  shown: readonly Shown[];
  stack: boolean;
  level: Level | null;
  marked: readonly [number, number] | null;
  /** When something happened. */
  moments: readonly number[];
  /** The least that the top of the scale is. */
  most: number | undefined;
}

export interface Handlers {
  said: (value: number | null) => string;
  look: (index: number | null) => void;
  pick: (band: number) => void;
  zoom: (from: number, to: number) => void;
}

const CLICK_PX = 3;

export class Chart {
  private edges: Values[] = [];
  private readonly plot: uPlot;

  constructor(
    box: HTMLElement,
    height: number,
    private drawing: Drawing,
    private readonly handlers: Handlers,
  ) {
    this.plot = new uPlot(this.options(box.clientWidth, height), this.data(), box);
    let pressed = 0;
    this.plot.over.addEventListener("mousedown", event => (pressed = event.clientX));
    this.plot.over.addEventListener("click", event => Math.abs(event.clientX - pressed) <= CLICK_PX && this.clicked());
  }

  show(drawing: Drawing): void {
    this.drawing = drawing;
    this.plot.setData(this.data());
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
  }

  cursor(moment: number): void {
    this.plot.setCursor({ left: this.plot.valToPos(moment, "x"), top: 0 });
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** The stack's highest edge comes first, so that each lower one is drawn over it. */
  private data(): uPlot.AlignedData {
    const { times, bucket, shown, stack } = this.drawing;
    const values = shown.filter(one => !one.thin).map(one => one.values);
    this.edges = stack ? stacked(values) : values;
    const thin = shown.filter(one => one.thin).map(one => one.values);
    const drawn = stack ? [...[...this.edges].reverse(), ...thin] : [...this.edges, ...thin].map(covering);
    return [fromStart(times, bucket), ...drawn.map(one => [one[0] ?? null, ...one])];
  }

  private options(width: number, height: number): uPlot.Options {
    const { shown, stack } = this.drawing;
    const bands = shown.filter(one => !one.thin).map(one => series(one.colour, stack ? "band" : "line"));
    return {
      width,
      height,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: { x: { time: true }, y: { range: (_, __, most) => [0, this.top(most ?? 0)] } },
      axes: [axisOfTime(), axisOfValues(this.handlers.said)],
      series: [
        {},
        ...(stack ? bands.reverse() : bands),
        ...shown.filter(one => one.thin).map(one => series(one.colour, "thin")),
      ],
      hooks: {
        drawClear: [plot => shade(plot, this.drawing.marked)],
        draw: [plot => this.decorate(plot)],
        setCursor: [plot => this.handlers.look(plot.cursor.idx ?? null)],
        setSelect: [plot => this.selected(plot)],
      },
    };
  }

  private top(most: number): number {
    return Math.max(most, this.drawing.level?.at ?? 0, this.drawing.most ?? 0) * 1.1 || 1;
  }

  private decorate(plot: uPlot): void {
    const { shown, stack, level } = this.drawing;
    const bands = shown.filter(one => !one.thin);
    if (stack) bands.forEach((band, at) => bandName(plot, band.label, this.edges[at]!, this.edges[at - 1] ?? null));
    if (level) levelLine(plot, level);
    moments(plot, this.drawing.moments);
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width > CLICK_PX) this.handlers.zoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private clicked(): void {
    const { left, top } = this.plot.cursor;
    if (left == null || top == null) return;
    const moment = this.plot.posToVal(left, "x");
    const at = this.drawing.times.findIndex(end => end >= moment);
    const found = at < 0 ? null : bandAt(this.edges, at, this.plot.posToVal(top, "y"));
    if (found !== null) this.handlers.pick(found);
  }
}
