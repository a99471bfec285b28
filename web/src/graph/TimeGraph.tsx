// A graph over time: drag to zoom, click a band, walk with the arrow keys; a line in words says what is under the cursor.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { zoom } from "../data/time";
import { iso, sessions, time } from "../words";
import { Chart, type Drawing, type Shown } from "./chart";
import { theme } from "./colours";
import { Table } from "./Table";

interface Props extends Partial<Drawing> {
  title: string;
  unit: string;
  times: readonly number[];
  bucket: number;
  /** Bands from the lowest up, or lines. */
  shown: readonly Shown[];
  height?: number;
  onPick?: (band: number) => void;
  said?: (value: number | null) => string;
}

const SPOKEN = 6;
const NONE: readonly number[] = [];

export function TimeGraph({ title, unit, height = 220, onPick, said = sessions, ...rest }: Props) {
  const { times, bucket, shown, stack = false, level = null, marked = null, moments = NONE, most } = rest;
  const drawing = { times, bucket, shown, stack, level, marked, moments, most };
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const [at, look] = useState<number | null>(null);
  const [start, mark] = useState<number | null>(null);

  const form = [stack, theme.value, height, ...shown.map(one => `${one.label}${one.colour}`)].join();
  // Before the browser paints: whoever sees a graph can already walk through it.
  useLayoutEffect(() => {
    const box = place.current!;
    const made = new Chart(box, height, drawing, { said, look, zoom, pick: band => pick.current?.(band) });
    chart.current = made;
    const resized = new ResizeObserver(() => made.resize(box.clientWidth, height));
    resized.observe(box);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [form]);
  useLayoutEffect(
    () => chart.current!.show(drawing),
    [times, shown, level?.at, marked?.[0], marked?.[1], moments, most, form],
  );

  // Index 0 of the chart is the start of the first interval.
  const here = at === null ? times.length - 1 : Math.min(Math.max(at - 1, 0), times.length - 1);

  function move(to: number): void {
    const index = Math.min(Math.max(to, 0), times.length - 1);
    if (times.length) chart.current!.cursor(times[index]!);
    look(index + 1);
  }

  function key(event: KeyboardEvent): void {
    const far = event.shiftKey ? 10 : 1;
    const moves: Record<string, number> = {
      ArrowLeft: here - far,
      ArrowRight: here + far,
      Home: 0,
      End: times.length - 1,
    };
    if (event.key in moves) move(moves[event.key]!);
    else if (event.key === " ") mark(start === null ? here : null);
    else if (event.key === "Enter" && start !== null) {
      zoom(times[Math.min(start, here)]! - bucket, times[Math.max(start, here)]!);
      mark(null);
    } else if (event.key === "Escape") mark(null);
    else return;
    event.preventDefault();
  }

  return (
    <figure class="graph">
      <figcaption>
        {title} <span class="quiet">{unit}</span>
      </figcaption>
      <div
        class={onPick ? "plot pickable" : "plot"}
        ref={place}
        tabIndex={0}
        role="group"
        aria-roledescription="graph"
        aria-label={`${title}, ${unit}. Arrow keys move the cursor; space marks a start, Enter zooms to it.`}
        onKeyDown={key}
      />
      <p class="under" aria-live="polite">
        {at === null ? "" : spoken(times[here], shown, here, said, unit)}
        {start !== null && ` – marked from ${time(times[start] ?? 0)}: Enter zooms`}
      </p>
      <Table
        caption={`${title}, ${unit}`}
        head={["Time", ...shown.map(one => one.label)]}
        rows={() => times.map((moment, row) => [time(moment), ...shown.map(one => said(one.values[row] ?? null))])}
        exact={() => times.map((moment, row) => [iso(moment), ...shown.map(one => String(one.values[row] ?? ""))])}
      />
    </figure>
  );
}

/** What is under the cursor in words, the largest first. */
function spoken(
  moment: number | undefined,
  shown: readonly Shown[],
  at: number,
  said: (value: number | null) => string,
  unit: string,
): string {
  if (moment === undefined) return "";
  const measured = shown.filter(one => one.values[at] != null);
  if (!measured.length) return `${time(moment)}: not measured`;
  const there = measured.filter(one => one.values[at] !== 0).sort((one, other) => other.values[at]! - one.values[at]!);
  if (!there.length) return `${time(moment)}: 0 ${unit}`;
  return `${time(moment)}: ${there
    .slice(0, SPOKEN)
    .map(one => `${one.label} ${said(one.values[at]!)}`)
    .join(", ")}`;
}
