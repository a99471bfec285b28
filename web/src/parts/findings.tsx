// Findings, the worst first, in a sentence each; more is said of the first.
import type { Diagnosis, Finding } from "../data/documents";
import { share } from "../words";
import { Bar } from "./Bar";
import { Link } from "./Link";

export const SIGNS = { critical: "■ Critical", warning: "▲ Warning", note: "● Note" };

const HOW_KNOWN: Record<string, string> = {
  at_most: "at most ",
};

const WHOSE: Record<string, string> = {
  processes: "of the time of processes",
  transactions: "of transactions",
  statements: "of statements",
};

/** How much time it takes, as far as that is known. */
export function Impact({ finding }: { finding: Finding }) {
  const { impact, impact_known: known } = finding;
  if (impact === null)
    return <span class="impact quiet">{known === "none_yet" ? "no time lost yet" : "time lost not measured"}</span>;
  const whose = WHOSE[finding.time_of ?? ""] ?? "of database time";
  return (
    <span class="impact">
      <Bar share={impact} /> {HOW_KNOWN[known] ?? ""}
      {share(impact)} <span class="quiet">{whose}</span>
    </span>
  );
}

export function Severity({ of }: { of: Finding["severity"] }) {
  return <span class={`severity ${of}`}>{SIGNS[of]}</span>;
}

/** The findings that nothing else explains, each with those that it explains. */
export function Findings({ found, brief = false }: { found: Diagnosis; brief?: boolean }) {
  const roots = found.findings.filter(one => !one.explained_by);
  return (
    <ol class="findings">
      {roots.map((finding, number) => (
        <li class={`finding ${finding.severity}`}>
          <p class="meta">
            <Severity of={finding.severity} /> <Impact finding={finding} />
          </p>
          <h3>
            <Link to={{ view: "finding", of: finding.cause }}>{finding.title}</Link>
          </h3>
          {!brief && number === 0 && <Inside finding={finding} />}
          <Explained by={finding} among={found.findings} />
        </li>
      ))}
    </ol>
  );
}

/** What speaks most for it, the first thing to do, and how to see that it helped. */
function Inside({ finding }: { finding: Finding }) {
  const [evidence, remedy, verify] = [finding.for[0], finding.remedy[0], finding.verify[0]];
  return (
    <dl class="inside">
      {evidence && <Term name="Because" text={[evidence.figure, evidence.why].filter(Boolean).join(": ")} />}
      {remedy && <Term name="Do" text={remedy} />}
      {verify && <Term name="Then check" text={verify} />}
    </dl>
  );
}

function Term({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

function Explained({ by, among }: { by: Finding; among: readonly Finding[] }) {
  const explained = among.filter(one => one.explained_by === by.cause);
  if (!explained.length) return null;
  return (
    <p class="explains">
      Explains{" "}
      {explained.map((one, number) => (
        <>
          {number > 0 && "; "}
          <Link to={{ view: "finding", of: one.cause }}>{one.title}</Link>
        </>
      ))}
    </p>
  );
}

/** The worst in a sentence. */
export function verdict(found: Diagnosis): string {
  const roots = found.findings.filter(one => !one.explained_by && one.severity !== "note");
  if (found.health === "healthy") return "Healthy, as far as it was measured";
  if (found.health === "not_judged") return "Not judged: too little was measured";
  const worst = roots[0]?.title ?? "";
  return roots.length === 1 ? worst : `${worst} – and ${roots.length - 1} more`;
}
