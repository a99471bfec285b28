// Whose the load is: by any dimension, narrowed down step by step, with what was found in that time.
import { address, go, type Where } from "../address";
import { useDiagnosis, useDimensions, useEvents, useFigures, useLoad } from "../data/asked";
import type { Diagnosis, Skew } from "../data/documents";
import { Chips } from "../parts/Chips";
import { Findings } from "../parts/findings";
import { Link } from "../parts/Link";
import { LoadGraph } from "../parts/LoadGraph";
import { SeriesGraph } from "../parts/SeriesGraph";
import { Trouble } from "../parts/Trouble";
import { WhatHappened } from "../parts/WhatHappened";
import { dimension, label, share } from "../words";

// Where to look next, after Oracle's own way down: what for, by which statement, of whom.
const WAY_DOWN = ["wait_class", "event", "statement", "blocker", "program", "user", "client", "session"];

export function Explore() {
  const { where } = address.value;
  const by = address.value.by ?? next(where);
  const statement = where.find(([name]) => name === "statement")?.[1];
  const load = useLoad(by, where);
  const dimensions = useDimensions(where);
  const found = useDiagnosis();
  const events = useEvents().document;
  function pick(name: string | null): void {
    const narrowed: Where = [...where.filter(([other]) => other !== by), [by, name ?? ""]];
    go({ where: narrowed, by: next(narrowed) });
  }
  return (
    <>
      <h1 class="unseen">Explore the load</h1>
      <Chips />
      {statement && <Link to={{ view: "statement", of: statement }}>The statement's page</Link>}
      <div class="explore">
        <nav aria-label="Break down by">
          <h2>Break down by</h2>
          <Dimensions all={dimensions.document?.dimensions ?? []} by={by} />
          <Trouble of={dimensions} waiting="Reading dimensions…" />
        </nav>
        <section aria-label="Load">
          {load.document && <LoadGraph load={load.document} events={events?.events} onPick={pick} />}
          <Trouble of={load} waiting="Reading the load…" />
        </section>
      </div>
      {found.document && <Found found={found.document} />}
      {events && <WhatHappened told={events} />}
      <Beside />
    </>
  );
}

function next(where: Where): string {
  return WAY_DOWN.find(name => !where.some(([other]) => other === name)) ?? "event";
}

/** The dimensions in which one value stands out most come first; those that have but one value tell nothing. */
function Dimensions({ all, by }: { all: Skew[]; by: string }) {
  return (
    <ul class="dimensions">
      {all.map(one => (
        <li>
          <button
            class={one.values === 1 ? "alike" : ""}
            aria-pressed={one.dimension === by}
            onClick={() => go({ by: one.dimension })}
          >
            <b>{dimension(one.dimension)}</b> <span class="quiet">{skew(one)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function skew(one: Skew): string {
  const largest = one.text ?? label(one.dimension, one.largest);
  return one.values === 1 ? `all ${largest}` : `${share(one.share)} ${largest}, of ${one.values}`;
}

function Found({ found }: { found: Diagnosis }) {
  return (
    <section>
      <h2>Found in this time</h2>
      {found.findings.length ? <Findings found={found} brief /> : <p class="quiet">Nothing that is known to hurt.</p>}
    </section>
  );
}

// What a server has to share: CPUs, memory, disks, and what it does for its clients.
const USUAL = ["cpu_used_pct", "run_queue_tasks", "disk_util_pct", "commits_per_s"];

/** Figures on the same time; the cursor goes through all graphs at once. */
function Beside() {
  const known = useFigures();
  const all = known.document?.figures ?? [];
  const { figures } = address.value;
  const shown = figures.length ? figures : USUAL.filter(name => all.some(one => one.figure === name));
  const more = all.filter(one => !shown.includes(one.figure));
  return (
    <section>
      <h2>Beside it</h2>
      <div class="graphs">
        {shown.map(figure => (
          <div key={figure}>
            <SeriesGraph figure={figure} />
            <button class="small" onClick={() => go({ figures: shown.filter(other => other !== figure) })}>
              Take away <span class="unseen">{figure}</span>
            </button>
          </div>
        ))}
      </div>
      <label>
        Another figure{" "}
        <select value="" onChange={event => go({ figures: [...shown, event.currentTarget.value] })}>
          <option value="">choose…</option>
          {more.map(one => (
            <option value={one.figure}>
              {one.component}: {one.title}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
