// This time against a good one: the load of both on one scale, whose load moved, what was changed.
import { address, go } from "../address";
import { useLoad } from "../data/asked";
import type { Changes, Load } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope, span, within, type Span } from "../data/time";
import { Bar } from "../parts/Bar";
import { Link } from "../parts/Link";
import { LoadGraph } from "../parts/LoadGraph";
import { Period } from "../parts/Moment";
import { Trouble } from "../parts/Trouble";
import { dimension, iso, label, sessions, time } from "../words";

const AGO_S = { "right before": 0, "an hour before": 3600, "a day before": 86_400, "a week before": 604_800 };

export function Compare() {
  const looked = span.value;
  if (!looked) return null;
  const length = looked.to - looked.from;
  const ago = address.value.ago ?? length;
  const good: Span = { from: looked.from - ago, to: looked.to - ago };
  return (
    <>
      <h1>Compared with a good time</h1>
      <p class="choices" role="group" aria-label="The good time">
        {Object.entries(AGO_S).map(([said, seconds]) => (
          <button
            aria-pressed={ago === Math.max(seconds, seconds ? 0 : length)}
            onClick={() => go({ ago: seconds || null })}
          >
            {said}
          </button>
        ))}
      </p>
      <Pair looked={looked} good={good} />
      <Different looked={looked} good={good} />
    </>
  );
}

function Pair({ looked, good }: { looked: Span; good: Span }) {
  const [now, then] = [useLoad("wait_class", [], looked), useLoad("wait_class", [], good)];
  const most = Math.max(highest(now.document), highest(then.document));
  function look(at: Span, name: string | null): void {
    go({ view: "explore", from: at.from, to: at.to, last: null, by: null, where: [["wait_class", name ?? ""]] });
  }
  return (
    <>
      {[
        { title: "The good time", at: good, load: then },
        { title: "This time", at: looked, load: now },
      ].map(({ title, at, load }) => (
        <section>
          <h2>
            {title}: <Period from={at.from} to={at.to} />
          </h2>
          {load.document && <LoadGraph load={load.document} most={most} height={150} onPick={name => look(at, name)} />}
          <Trouble of={load} waiting="Reading the load…" />
        </section>
      ))}
    </>
  );
}

/** Both on one scale. */
function highest(load: Load | null): number {
  return Math.max(0, ...(load?.total.high ?? []).map(value => value ?? 0));
}

function Different({ looked, good }: { looked: Span; good: Span }) {
  const before = `${iso(good.from)}..${iso(good.to)}`;
  const found = useDocument<Changes>("changes", { ...scope.value, ...within(looked), before });
  const told = found.document;
  return (
    <>
      <Trouble of={found} waiting="Comparing…" />
      {told && <Moved moved={told.moved} />}
      {told && <Made told={told} />}
    </>
  );
}

function Moved({ moved }: { moved: Changes["moved"] }) {
  const most = Math.max(...moved.flatMap(one => [one.before, one.after]), 0.001);
  return (
    <section>
      <h2>Whose load moved</h2>
      {moved.length === 0 && <p class="quiet">Nobody's, by a tenth of a session or more.</p>}
      {moved.length > 0 && (
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">whose</th>
                <th scope="col">before</th>
                <th scope="col">after</th>
                <th scope="col">change</th>
              </tr>
            </thead>
            <tbody>
              {moved.map(one => (
                <tr>
                  <th scope="row">
                    <span class="quiet">{dimension(one.dimension)}</span>{" "}
                    <Link to={{ view: "explore", by: null, where: [[one.dimension, one.name ?? ""]] }}>
                      {label(one.dimension, one.name)}
                    </Link>
                  </th>
                  <td class="figure">
                    {sessions(one.before)} <Bar share={one.before / most} />
                  </td>
                  <td class="figure">
                    {sessions(one.after)} <Bar share={one.after / most} />
                  </td>
                  <td class="figure">
                    {one.after > one.before ? "▲ +" : "▼ −"}
                    {sessions(Math.abs(one.after - one.before))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Made({ told }: { told: Changes }) {
  return (
    <section>
      <h2>What was changed</h2>
      {!told.changes.length && !told.events.length && <p class="quiet">Nothing that is recorded.</p>}
      <ul>
        {told.changes.map(one => (
          <li>
            <span class="quiet">{one.kind}</span> <b>{one.name}</b>: {one.before ?? "was not there"} →{" "}
            {one.after ?? "is not there"}
          </li>
        ))}
        {told.events.map(one => (
          <li>
            {time(Date.parse(one.ts) / 1000)} <span class="quiet">{one.kind}</span> {one.text}
          </li>
        ))}
      </ul>
      {told.not_recorded.length > 0 && <p class="quiet">Not recorded in both: {told.not_recorded.join(", ")}.</p>}
    </section>
  );
}
