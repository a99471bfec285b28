// Whose the load is: by any dimension, narrowed down step by step, with what was found in that time.
import { address, go, type Where } from "../address";
import { useDiagnosis, useDimensions, useLoad } from "../data/asked";
import type { Diagnosis, Skew } from "../data/documents";
import { Chips } from "../parts/Chips";
import { Findings } from "../parts/findings";
import { LoadGraph } from "../parts/LoadGraph";
import { Trouble } from "../parts/Trouble";
import { dimension, label, share } from "../words";

// Where to look next, after Oracle's own way down: what for, by which statement, of whom.
const WAY_DOWN = ["wait_class", "event", "statement", "blocker", "program", "user", "client", "session"];

export function Explore() {
  const { where } = address.value;
  const by = address.value.by ?? next(where);
  const load = useLoad(by, where);
  const dimensions = useDimensions(where);
  const found = useDiagnosis();
  function pick(name: string | null): void {
    const narrowed: Where = [...where.filter(([other]) => other !== by), [by, name ?? ""]];
    go({ where: narrowed, by: next(narrowed) });
  }
  return (
    <main>
      <h1 class="unseen">Explore the load</h1>
      <Chips />
      <div class="explore">
        <nav aria-label="Break down by">
          <h2>Break down by</h2>
          <Dimensions all={dimensions.document?.dimensions ?? []} by={by} />
        </nav>
        <section aria-label="Load">
          {load.document && <LoadGraph load={load.document} onPick={pick} />}
          <Trouble of={load} waiting="Reading the load…" />
        </section>
      </div>
      {found.document && <Found found={found.document} />}
    </main>
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
          <button class={one.values === 1 ? "alike" : ""} aria-pressed={one.dimension === by} onClick={() => go({ by: one.dimension })}>
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
