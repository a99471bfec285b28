// How long waits took: a latency map, what it shows in words, and what a rectangle of it holds.
import { useMemo, useState } from "preact/hooks";
import { address, go } from "../address";
import type { LatencyMap } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within, zoom } from "../data/time";
import { HeatMap } from "../graph/HeatMap";
import { areaSum, cells as cellsOf, type Area, type Cells } from "../graph/heat";
import type { Measure } from "../graph/heatCanvas";
import { TimeGraph } from "../graph/TimeGraph";
import { Link } from "../parts/Link";
import { Trouble } from "../parts/Trouble";
import { digits, latency, period, share } from "../words";

export function MapView() {
  const looked = span.value;
  const { of: subject } = address.value;
  const found = useDocument<LatencyMap>("map", looked && { ...scope.value, ...within(looked), subject });
  return (
    <>
      <h1 class="unseen">Latency</h1>
      {found.document && <Subjects of={found.document} />}
      <Trouble of={found} waiting="Reading latencies…" />
      {found.document && <Shown of={found.document} />}
    </>
  );
}

function Subjects({ of }: { of: LatencyMap }) {
  const known = [...new Set([of.subject, ...of.subjects.map(one => one.name)])];
  return (
    <p>
      <label>
        Latency of{" "}
        <select value={of.subject} onChange={event => go({ of: event.currentTarget.value })}>
          {known.map(name => (
            <option>{name}</option>
          ))}
        </select>
      </label>{" "}
      <span class="quiet">
        {of.db}{" "}
        {
          {
            histogram: "all of them were timed",
            sampled: "as samples met them: short ones are missed",
            mean: "means only",
          }[of.kind]
        }
      </span>
    </p>
  );
}

function Shown({ of }: { of: LatencyMap }) {
  const [measure, colourBy] = useState<Measure>("counts");
  const [area, select] = useState<Area | null>(null);
  const cells = useMemo(() => cellsOf(of.columns), [of]);
  if (of.kind === "mean" || !cells.rows.length) return <Means of={of} />;
  return (
    <>
      <ul class="says">
        {of.reading.sentences.map(sentence => (
          <li>{sentence}</li>
        ))}
      </ul>
      <p class="choices" role="group" aria-label="Colour by">
        <button aria-pressed={measure === "counts"} onClick={() => colourBy("counts")}>
          Number of waits
        </button>
        <button aria-pressed={measure === "waited_us"} onClick={() => colourBy("waited_us")}>
          Time waited
        </button>
      </p>
      <HeatMap title={`Latency of ${of.subject}`} cells={cells} measure={measure} area={area} onArea={select} />
      {area ? (
        <Selected cells={cells} area={area} subject={of.subject} />
      ) : (
        <p class="quiet">Drag a rectangle to see what is in it.</p>
      )}
      {of.whole && (
        <dl class="vitals">
          {of.whole.quantiles.map(one => (
            <div>
              <dt>{digits(Number((one.share * 100).toFixed(1)))} % took at most</dt>
              <dd>{latency(one.us)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Selected({ cells, area, subject }: { cells: Cells; area: Area; subject: string }) {
  const all: Area = { columns: [0, cells.ends.length - 1], rows: [0, cells.rows.length - 1] };
  const [count, waited] = [areaSum(cells.counts, area), areaSum(cells.waited_us, area)];
  const [from, to] = [cells.starts[area.columns[0]]!, cells.ends[area.columns[1]]!];
  const [low, high] = [cells.rows[area.rows[0]]!, cells.rows[area.rows[1]]!];
  return (
    <p role="status">
      {period(from, to)}, {latency(low.gt_us)} to {high.le_us === null ? "longer" : latency(high.le_us)}:{" "}
      {digits(count)} waits ({share(count / areaSum(cells.counts, all))} of all), {latency(waited)} together (
      {share(waited / areaSum(cells.waited_us, all))} of the time).{" "}
      <button onClick={() => zoom(from, to)}>Zoom to this time</button>{" "}
      <Link
        to={{
          view: "explore",
          of: null,
          by: null,
          where: [["event", subject]],
          from: Math.floor(from),
          to: Math.ceil(to),
          last: null,
        }}
      >
        Whose waits were these?
      </Link>
    </p>
  );
}

/** The source knows no distribution. */
function Means({ of }: { of: LatencyMap }) {
  const values = of.columns.map(column => (column.mean_us === null ? null : column.mean_us / 1000));
  const times = of.columns.map(column => Date.parse(column.end) / 1000);
  const shown = useMemo(() => [{ label: "mean", colour: 2, values }], [of]);
  return (
    <TimeGraph
      title={`Mean latency of ${of.subject}`}
      unit="ms"
      times={times}
      bucket={of.columns[0]?.interval_s ?? 1}
      shown={shown}
    />
  );
}
