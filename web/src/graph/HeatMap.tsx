// A latency map: move over it, drag a rectangle, or walk with the arrow keys (with shift: select).
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { latency, time } from "../words";
import { theme } from "./colours";
import { ordered, type Area, type Cells } from "./heat";
import { draw, frame, type Measure } from "./heatCanvas";
import { Table } from "./Table";

interface Props {
  title: string;
  cells: Cells;
  measure: Measure;
  area: Area | null;
  onArea: (area: Area | null) => void;
}

type Place = [column: number, row: number];

export function HeatMap({ title, cells, measure, area, onArea }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, move] = useState<Place | null>(null);
  const [anchor, hold] = useState<Place | null>(null);
  const [size, sized] = useState(0);
  useEffect(
    () => draw(canvas.current!, cells, { measure, cursor, area }),
    [cells, measure, cursor, area, size, theme.value],
  );
  useEffect(() => {
    const resized = new ResizeObserver(() => sized(canvas.current?.clientWidth ?? 0));
    resized.observe(canvas.current!);
    return () => resized.disconnect();
  }, []);
  const [columns, rows] = [cells.ends.length, cells.rows.length];

  function at(event: PointerEvent): Place {
    const place = frame(canvas.current!);
    return clamp([((event.offsetX - place.left) / place.width) * columns, (1 - event.offsetY / place.height) * rows]);
  }

  function clamp([column, row]: Place): Place {
    const within = (value: number, count: number) => Math.min(Math.max(Math.floor(value), 0), count - 1);
    return [within(column, columns), within(row, rows)];
  }

  function reach(here: Place, from: Place): void {
    move(here);
    onArea({ columns: ordered(from[0], here[0]), rows: ordered(from[1], here[1]) });
  }

  function pressed(event: PointerEvent): void {
    canvas.current!.setPointerCapture(event.pointerId);
    hold(at(event));
    onArea(null);
  }

  function moved(event: PointerEvent): void {
    const here = at(event);
    if (anchor && (here[0] !== anchor[0] || here[1] !== anchor[1])) reach(here, anchor);
    else move(here);
  }

  function key(event: KeyboardEvent): void {
    const [column, row] = cursor ?? [columns - 1, 0];
    const steps: Record<string, Place> = {
      ArrowLeft: [column - 1, row],
      ArrowRight: [column + 1, row],
      ArrowUp: [column, row + 1],
      ArrowDown: [column, row - 1],
      Home: [0, row],
      End: [columns - 1, row],
    };
    const to = steps[event.key];
    if (event.key === "Escape") onArea(null);
    if (!to) return;
    event.preventDefault();
    if (!event.shiftKey) {
      hold(null);
      move(clamp(to));
      return;
    }
    const from = anchor ?? [column, row];
    hold(from);
    reach(clamp(to), from);
  }

  const head = useMemo(() => ["Time", ...cells.rows.map(row => `over ${latency(row.gt_us)}`)], [cells]);
  return (
    <figure class="graph">
      <figcaption>{title}</figcaption>
      <canvas
        ref={canvas}
        class="heat"
        tabIndex={0}
        role="group"
        aria-roledescription="latency map"
        aria-label={`${title}. Arrow keys move the cursor, with shift they select a rectangle, Escape drops it.`}
        onPointerDown={pressed}
        onPointerMove={moved}
        onPointerUp={() => hold(null)}
        onPointerLeave={() => !anchor && move(null)}
        onKeyDown={key}
      />
      <p class="under" aria-live="polite">
        {cursor && spoken(cells, cursor)}
      </p>
      <Table
        caption={`${title}: waits by time and latency`}
        head={head}
        rows={() =>
          cells.ends.map((end, column) => [
            time(end),
            ...cells.rows.map((_, row) => String(cells.counts[column]?.[row] ?? "–")),
          ])
        }
      />
    </figure>
  );
}

function spoken(cells: Cells, [column, row]: Place): string {
  const when = `${time(cells.starts[column]!)} to ${time(cells.ends[column]!)}`;
  const counts = cells.counts[column];
  if (!counts) return `${when}: not measured`;
  const { gt_us, le_us } = cells.rows[row]!;
  const range = le_us === null ? `over ${latency(gt_us)}` : `${latency(gt_us)} to ${latency(le_us)}`;
  return `${when}, ${range}: ${counts[row]} waits, ${latency(cells.waited_us[column]![row]!)} together`;
}
