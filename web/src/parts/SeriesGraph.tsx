// A figure over time, a line for each device, relation and so on.
import { useMemo } from "preact/hooks";
import { ends } from "../data/asked";
import type { Buckets, OneSeries, Series } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within } from "../data/time";
import type { Shown } from "../graph/chart";
import { isAbove } from "../graph/stack";
import { TimeGraph } from "../graph/TimeGraph";
import { quantity } from "../words";
import { Trouble } from "./Trouble";

interface Props {
  figure: string;
  entity?: string | null;
  marked?: readonly [number, number] | null;
}

const MOST_LINES = 6;
// Neighbours that are told apart by their lightness too.
const COLOURS = [2, 5, 0, 6, 7, 3];

export function SeriesGraph({ figure, entity = null, marked = null }: Props) {
  const looked = span.value;
  const parameters = { figure, entity, top: MOST_LINES, buckets: 600 };
  const found = useDocument<Series>("series", looked && { ...scope.value, ...within(looked), ...parameters });
  const told = found.document;
  return (
    <>
      {told && (
        <Lines
          title={told.title.replace(/^statistic:/, "")}
          unit={told.unit}
          of={told.series}
          over={told}
          marked={marked}
        />
      )}
      <Trouble of={found} waiting="Reading…" />
    </>
  );
}

interface LinesProps {
  title: string;
  unit: string;
  of: readonly OneSeries[];
  over: Buckets;
  marked?: readonly [number, number] | null;
}

export function Lines({ title, unit, of, over, marked = null }: LinesProps) {
  const times = useMemo(() => ends(over), [over]);
  const shown = useMemo(() => of.slice(0, MOST_LINES).flatMap(lines), [of]);
  // Bytes have a unit of their own size at each figure, others one beside the title.
  const inBytes = unit.startsWith("bytes");
  if (!shown.length) return <p class="quiet">{title}: not measured in this time.</p>;
  return (
    <TimeGraph
      title={title}
      unit={inBytes ? "" : unit.replaceAll("_", " ")}
      times={times}
      bucket={over.bucket_s}
      shown={shown}
      marked={marked}
      height={140}
      said={value => quantity(value, inBytes ? unit : "")}
    />
  );
}

/** The mean, and where a bucket holds several values the highest: a spike stays visible. */
function lines(series: OneSeries, number: number): Shown[] {
  const label = [series.entity, series.db].find(Boolean) ?? "mean";
  const mean = { label, colour: COLOURS[number]!, values: series.mean };
  return number === 0 && isAbove(series.high, series.mean)
    ? [mean, { label: `${label}, highest`, colour: 9, values: series.high, thin: true }]
    : [mean];
}
