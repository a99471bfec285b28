// One statement: its text, what it waits for, how often and how long it ran, by which plans.
import { address, go } from "../address";
import { useLoad } from "../data/asked";
import type { Statement } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within } from "../data/time";
import { Link } from "../parts/Link";
import { LoadGraph } from "../parts/LoadGraph";
import { Moment } from "../parts/Moment";
import { Lines } from "../parts/SeriesGraph";
import { Trouble } from "../parts/Trouble";

const SAID: Record<string, string> = {
  calls_per_s: "Calls",
  elapsed_ms_per_call: "Time of a call",
  elapsed_s_per_s: "Time in it, of all sessions",
  rows_per_s: "Rows",
  read_blocks_per_s: "Blocks read",
  hit_blocks_per_s: "Blocks found in memory",
  temp_bytes_per_s: "Temporary files",
  wal_bytes_per_s: "Write-ahead log",
};

export function StatementView() {
  const looked = span.value;
  const id = address.value.of ?? "";
  const found = useDocument<Statement>(
    `statement/${encodeURIComponent(id)}`,
    looked && { ...scope.value, ...within(looked), buckets: 600 },
  );
  const load = useLoad("event", [["statement", id]]);
  const told = found.document;
  return (
    <>
      <h1>Statement {id}</h1>
      {told?.texts.map(text => (
        <pre class="sql">{text}</pre>
      ))}
      <p>
        <Link to={{ view: "explore", of: null, by: null, where: [["statement", id]] }}>
          Whose sessions run it, and who blocks them
        </Link>
      </p>
      <Trouble of={found} waiting="Reading the statement…" />
      {load.document && (
        <LoadGraph
          load={load.document}
          onPick={name =>
            go({
              view: "explore",
              of: null,
              by: null,
              where: [
                ["statement", id],
                ["event", name ?? ""],
              ],
            })
          }
        />
      )}
      <Trouble of={load} waiting="Reading its load…" />
      {told && <Figures told={told} />}
      {told && <Plans told={told} />}
    </>
  );
}

/** What never happened takes no room. */
function Figures({ told }: { told: Statement }) {
  const happened = told.figures.filter(one => one.series.some(series => series.average > 0));
  return (
    <div class="graphs">
      {happened.map(one => (
        <Lines
          title={SAID[one.figure] ?? one.figure.replaceAll("_", " ")}
          unit={one.unit}
          of={one.series}
          over={told}
        />
      ))}
    </div>
  );
}

function Plans({ told }: { told: Statement }) {
  if (!told.seen.length) return null;
  return (
    <section>
      <h2>Seen</h2>
      <ul>
        {told.seen.map(one => (
          <li>
            {[one.db, one.database].filter(Boolean).join(", ")}: <Moment at={Date.parse(one.first) / 1000} /> to{" "}
            <Moment at={Date.parse(one.last) / 1000} />
            {one.plan && `, plan ${one.plan}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
