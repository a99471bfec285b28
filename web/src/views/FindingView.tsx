// One finding: what speaks for it, what against it, what to do, and how to see that it helped.
import { useState } from "preact/hooks";
import { address } from "../address";
import { useDiagnosis } from "../data/asked";
import type { Diagnosis, Evidence, Finding } from "../data/documents";
import { Impact, Severity } from "../parts/findings";
import { Link } from "../parts/Link";
import { Period } from "../parts/Moment";
import { Trouble } from "../parts/Trouble";
import { EvidenceGraph, graphOf } from "../parts/EvidenceGraph";
import { share } from "../words";

export function FindingView() {
  const found = useDiagnosis();
  const finding = found.document?.findings.find(one => one.cause === address.value.of);
  return (
    <>
      <p>
        <Link to={{ view: "now", of: null }}>◀ All findings of this time</Link>
      </p>
      <Trouble of={found} waiting="Examining this time…" />
      {found.document && !finding && <p>It was not found in this time: {address.value.of}.</p>}
      {finding && <One finding={finding} found={found.document!} />}
    </>
  );
}

function One({ finding, found }: { finding: Finding; found: Diagnosis }) {
  const looked = interval(finding, found);
  return (
    <article>
      <p class="meta">
        <Severity of={finding.severity} /> <Impact finding={finding} />
        <span>
          <span class="quiet">confidence</span> {share(finding.confidence)}
        </span>
        {finding.database && <span>{finding.database}</span>}
        {looked && (
          <Link to={{ view: "explore", of: null, from: Math.floor(looked[0]), to: Math.ceil(looked[1]), last: null }}>
            <Period from={looked[0]} to={looked[1]} />
          </Link>
        )}
      </p>
      <h1>{finding.title}</h1>
      <p class="quiet">Cause: {finding.cause}</p>
      <Kin finding={finding} found={found} />
      <div class="advice">
        <Steps title="What to do" steps={finding.remedy} />
        <Steps title="How to check that it helped" steps={finding.verify} />
      </div>
      <h2>Why we think so</h2>
      <ul class="evidence">
        {finding.for.map(item => (
          <Item item={item} sign="+ for" looked={looked} />
        ))}
        {finding.against.map(item => (
          <Item item={item} sign="− against" looked={looked} />
        ))}
        {finding.not_measured.map(item => (
          <li>
            <span class="sign">? not seen</span>
            <span>
              {item.what}: {item.why}. {item.grant}
            </span>
          </li>
        ))}
      </ul>
      {finding.sources.length > 0 && <p class="quiet sources">After {finding.sources.join("; ")}</p>}
    </article>
  );
}

/** What it is a symptom of, and what it explains. */
function Kin({ finding, found }: { finding: Finding; found: Diagnosis }) {
  const cause = found.findings.find(one => one.cause === finding.explained_by);
  const symptoms = found.findings.filter(one => one.explained_by === finding.cause);
  return (
    <>
      {cause && (
        <p>
          A symptom of <Link to={{ of: cause.cause }}>{cause.title}</Link>
        </p>
      )}
      {symptoms.length > 0 && (
        <p>
          Explains{" "}
          {symptoms.map((one, number) => (
            <>
              {number > 0 && "; "}
              <Link to={{ of: one.cause }}>{one.title}</Link>
            </>
          ))}
        </p>
      )}
    </>
  );
}

function Steps({ title, steps }: { title: string; steps: string[] }) {
  return (
    <section>
      <h2>{title}</h2>
      <ol>
        {steps.map(step => (
          <li>{step}</li>
        ))}
      </ol>
    </section>
  );
}

function Item({ item, sign, looked }: { item: Evidence; sign: string; looked: [number, number] | null }) {
  const [open, show] = useState(false);
  const graph = graphOf(item);
  return (
    <li>
      <span class="sign">{sign}</span>
      <div>
        <b>{item.figure}</b>
        {item.held_against && <span class="quiet"> ({item.held_against})</span>} {item.why}
        {graph && (
          <button class="small" aria-expanded={open} onClick={() => show(!open)}>
            {open ? "Hide graph" : "Show graph"}
          </button>
        )}
        {open && graph && <EvidenceGraph of={graph} marked={looked} />}
      </div>
    </li>
  );
}

function interval(finding: Finding, found: Diagnosis): [number, number] | null {
  const told = finding.interval ?? (found.since && found.until ? { since: found.since, until: found.until } : null);
  return told && [Date.parse(told.since) / 1000, Date.parse(told.until) / 1000];
}
