// What is wrong now, the largest first; where the time goes; vital signs.
import { go } from "../address";
import { useDiagnosis, useEvents, useLoad } from "../data/asked";
import type { Diagnosis } from "../data/documents";
import { Findings, verdict } from "../parts/findings";
import { Link } from "../parts/Link";
import { LoadGraph } from "../parts/LoadGraph";
import { Period } from "../parts/Moment";
import { Trouble } from "../parts/Trouble";
import { WhatHappened } from "../parts/WhatHappened";
import { quantity } from "../words";

export function Now() {
  const load = useLoad("wait_class");
  const found = useDiagnosis();
  const events = useEvents().document;
  return (
    <>
      <Verdict found={found.document} />
      <Trouble of={found} waiting="Examining this time…" />
      <section aria-label="Load">
        {load.document && (
          <LoadGraph load={load.document} events={events?.events} onPick={name => name !== null && look(name)} />
        )}
        <Trouble of={load} waiting="Reading the load…" />
      </section>
      {found.document && <Vitals found={found.document} />}
      {found.document && found.document.findings.length > 0 && (
        <section>
          <h2>Findings</h2>
          <Findings found={found.document} />
        </section>
      )}
      {events && <WhatHappened told={events} />}
      {found.document && <Others others={found.document.others} />}
      {found.document && <NotSeen found={found.document} />}
    </>
  );
}

function look(wait_class: string): void {
  go({ view: "explore", by: "event", where: [["wait_class", wait_class]] });
}

function Verdict({ found }: { found: Diagnosis | null }) {
  return <h1 class={found?.health ?? "quiet"}>{found ? verdict(found) : "…"}</h1>;
}

function Vitals({ found }: { found: Diagnosis }) {
  if (!found.figures.length) return null;
  return (
    <section>
      <h2>Vital signs</h2>
      <dl class="vitals">
        {found.figures.map(one => (
          <div>
            <dt>{one.name}</dt>
            <dd>{quantity(one.value, one.unit)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Other hosts, and bad minutes in a long time, each judged for itself. */
function Others({ others }: { others: Diagnosis[] }) {
  const ill = others.filter(other => other.health === "not_healthy" && other.since && other.until);
  if (!ill.length) return null;
  return (
    <section>
      <h2>Also in this time</h2>
      <ul>
        {ill.map(other => {
          const [from, to] = [Date.parse(other.since!) / 1000, Date.parse(other.until!) / 1000];
          return (
            <li>
              <Link to={{ from: Math.floor(from), to: Math.ceil(to), last: null, host: other.host }}>
                {other.host}, <Period from={from} to={to} />
              </Link>
              : {verdict(other)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Absent is not zero: what nobody could look at is told, with how to grant it. */
function NotSeen({ found }: { found: Diagnosis }) {
  const count = found.not_measured.length;
  if (!count && !found.not_judged.length) return null;
  return (
    <details class="not-seen">
      <summary>
        Not seen:{" "}
        {[...found.not_judged, ...(count ? [`${count} more ${count === 1 ? "thing" : "things"}`] : [])].join(", ")}
      </summary>
      <ul>
        {found.not_measured.map(one => (
          <li>
            {one.what}: {one.why}. {one.grant}
          </li>
        ))}
      </ul>
    </details>
  );
}
