// Who blocked whom: the session behind which others waited longest first, those that waited below it.
import { useMemo } from "preact/hooks";
import { ends } from "../data/asked";
import type { Blocked, Blocking as Told } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within } from "../data/time";
import { TimeGraph } from "../graph/TimeGraph";
import { Link } from "../parts/Link";
import { Trouble } from "../parts/Trouble";
import { duration } from "../words";

const HISTORIES = 6;
const COLOURS = [5, 2, 0, 6, 7, 3];

export function Blocking() {
  const looked = span.value;
  const found = useDocument<Told>("blocking", looked && { ...scope.value, ...within(looked), buckets: 300 });
  const told = found.document;
  return (
    <>
      <h1>Who blocked whom</h1>
      <Trouble of={found} waiting="Reading locks…" />
      {told && !told.trees.length && <p>Nobody was seen to wait for another session in this time.</p>}
      {told && told.trees.length > 0 && <History told={told} />}
      {told && (
        <ul class="tree">
          {told.trees.map((tree, number) => (
            <Session of={tree} open={number === 0} />
          ))}
        </ul>
      )}
      {told && told.left_out > 0 && <p class="quiet">{told.left_out} more trees behind which others waited shorter.</p>}
    </>
  );
}

function History({ told }: { told: Told }) {
  const times = useMemo(() => ends(told), [told]);
  const shown = useMemo(
    () =>
      told.trees
        .slice(0, HISTORIES)
        .map((tree, number) => ({ label: named(tree), colour: COLOURS[number]!, values: tree.values ?? [] }))
        .filter(one => one.values.length),
    [told],
  );
  return (
    <TimeGraph
      title="Sessions that waited"
      unit="behind each root"
      times={times}
      bucket={told.bucket_s}
      shown={shown}
      stack
      height={180}
    />
  );
}

function named(of: Blocked): string {
  return of.session === 0 ? "a prepared transaction" : `session ${of.session}`;
}

function Session({ of, open = false }: { of: Blocked; open?: boolean }) {
  return (
    <li>
      <Link to={{ view: "explore", by: null, where: [[of.behind_s ? "blocker" : "session", String(of.session)]] }}>
        {named(of)}
      </Link>{" "}
      {[of.user, of.program].filter(Boolean).join(", ")} <span class="quiet">{doing(of)}</span>
      {of.statement_id && (
        <>
          {" "}
          <Link to={{ view: "statement", of: of.statement_id }}>its statement</Link>
        </>
      )}
      {of.waited_s > 0 && <span> waited {duration(of.waited_s)}</span>}
      {of.behind_s > 0 && <b> {duration(of.behind_s)} were waited behind it</b>}
      {!of.below.length && of.left_out > 0 && <span class="quiet"> by {of.left_out} sessions</span>}
      {of.below.length > 0 && (
        <details open={open}>
          <summary>
            {of.below.length + of.left_out === 1 ? "by 1 session" : `by ${of.below.length + of.left_out} sessions`}
          </summary>
          <ul>
            {of.below.map(one => (
              <Session of={one} />
            ))}
            {of.left_out > 0 && <li class="quiet">{of.left_out} more sessions</li>}
          </ul>
        </details>
      )}
    </li>
  );
}

function doing(of: Blocked): string {
  if (of.state === null && of.event === null) return "was not sampled";
  return [of.state, of.event && of.event !== of.state ? of.event : null].filter(Boolean).join(", ");
}
