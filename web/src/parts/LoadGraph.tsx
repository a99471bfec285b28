// Average active sessions as bands, the CPUs as a line, and the parts beside it.
import { useMemo } from "preact/hooks";
import { ends } from "../data/asked";
import { cpus } from "../data/time";
import type { Happened, Load } from "../data/documents";
import type { Shown } from "../graph/chart";
import { isAbove } from "../graph/stack";
import { CLASSES, colour, REST } from "../graph/colours";
import { TimeGraph } from "../graph/TimeGraph";
import { dimension, label } from "../words";
import { Breakdown } from "./Breakdown";

const NONE: readonly Happened[] = [];

interface Props {
  load: Load;
  onPick: (name: string | null) => void;
  marked?: readonly [number, number] | null;
  height?: number;
  events?: readonly Happened[];
  /** The top of the scale, where several graphs share one. */
  most?: number;
}

export function LoadGraph({ load, onPick, marked = null, height = 240, events = NONE, most }: Props) {
  const { shown, names } = useMemo(() => bands(load), [load]);
  const times = useMemo(() => ends(load), [load]);
  const moments = useMemo(() => events.map(event => Date.parse(event.ts) / 1000), [events]);
  const count = load.cpus ?? cpus.value;
  const level = count === null ? null : { at: count, label: count === 1 ? "1 CPU" : `${count} CPUs` };
  return (
    <div class="load">
      <TimeGraph
        title={`Active sessions by ${dimension(load.dimension)}`}
        unit="average active sessions"
        times={times}
        bucket={load.bucket_s}
        shown={shown}
        stack
        level={level}
        marked={marked}
        moments={moments}
        most={most}
        height={height}
        onPick={band => names[band] !== undefined && onPick(names[band])}
      />
      <Breakdown load={load} onPick={onPick} />
    </div>
  );
}

/** Wait classes in their own order; others by size, the largest at the bottom. */
function bands(load: Load): { shown: Shown[]; names: (string | null)[] } {
  const parts = [...load.bands];
  if (load.dimension === "wait_class") parts.sort((one, other) => place(one.name) - place(other.name));
  const shown: Shown[] = parts.map(part => ({
    label: part.text ? shortened(part.text) : label(load.dimension, part.name),
    colour: colour(load.dimension, part.name),
    values: part.values,
  }));
  if (load.others?.sessions) shown.push({ label: "others", colour: REST, values: load.others.values });
  // Where a bucket holds several moments, the highest of them is above their mean: a spike stays visible.
  if (isAbove(load.total.high, load.total.mean))
    shown.push({ label: "highest moment", colour: REST, values: load.total.high, thin: true });
  return { shown, names: parts.map(part => part.name) };
}

function place(name: string | null): number {
  const found = CLASSES.indexOf(name ?? "");
  return found < 0 ? CLASSES.length : found;
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
