// A figure of something over time, with the lowest and highest moment of each bucket.
import { useMemo } from "preact/hooks";
import { ends } from "../data/asked";
import type { Series } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within } from "../data/time";
import type { Shown } from "../graph/chart";
import { TimeGraph } from "../graph/TimeGraph";
import { quantity } from "../words";
import { Trouble } from "./Trouble";

interface Props {
  title: string;
  figure: string;
  entity: string | null;
  marked: readonly [number, number] | null;
}

export function SeriesGraph({ title, figure, entity, marked }: Props) {
  const looked = span.value;
  const found = useDocument<Series>("series", looked && { ...scope.value, ...within(looked), figure, entity });
  const series = found.document;
  const times = useMemo(() => (series ? ends(series) : []), [series]);
  const shown = useMemo(() => (series ? lines(series) : []), [series]);
  return (
    <>
      {series && (
        <TimeGraph
          title={title}
          unit=""
          times={times}
          bucket={series.bucket_s}
          shown={shown}
          marked={marked}
          height={160}
          said={value => quantity(value, series.unit)}
        />
      )}
      <Trouble of={found} waiting="Reading…" />
    </>
  );
}

function lines(series: Series): Shown[] {
  const mean = { label: "mean", colour: 2, values: series.values.mean };
  if (series.bucket_s <= series.step_s) return [mean];
  return [mean, { label: "highest", colour: 2, values: series.values.high, thin: true }, { label: "lowest", colour: 2, values: series.values.low, thin: true }];
}
