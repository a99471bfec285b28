// What is beyond its threshold now, what will be and when, and where sizes grow to.
import type { Forecast, Size, Threshold } from "../data/documents";
import { useDocument } from "../data/fetched";
import { scope } from "../data/time";
import { Trouble } from "../parts/Trouble";
import { duration, quantity } from "../words";

export function Capacity() {
  const found = useDocument<Forecast>("forecast", scope.value);
  return (
    <>
      <h1>Capacity</h1>
      <Trouble of={found} waiting="Forecasting…" />
      {found.document && <Told told={found.document} />}
    </>
  );
}

function Told({ told }: { told: Forecast }) {
  const of = (verdict: Threshold["verdict"]) => told.items.filter(one => one.verdict === verdict);
  return (
    <>
      <p>
        {duration(told.history_s)} were recorded; the next {duration(told.horizon_s)} were asked for.
      </p>
      <Items title="■ Beyond the threshold now" items={of("violated")} none="Nothing is." />
      <Items title="▲ To come" items={of("date")} none="Nothing that can be told." />
      {told.sizes.length > 0 && <Sizes sizes={told.sizes} />}
      <Items title="Not within that time" items={of("not within the horizon")} none="" folded />
      <Items title="Cannot be told" items={of("cannot be told")} none="" folded />
    </>
  );
}

function Items({
  title,
  items,
  none,
  folded = false,
}: {
  title: string;
  items: Threshold[];
  none: string;
  folded?: boolean;
}) {
  if (folded && !items.length) return null;
  const table = (
    <div class="wide" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col">now</th>
            <th scope="col">limit</th>
            <th scope="col">when</th>
            <th scope="col">why</th>
          </tr>
        </thead>
        <tbody>
          {items.map(one => (
            <tr>
              <th scope="row">
                {one.title} <span class="quiet">{one.entity ?? one.db}</span>
              </th>
              <td class="figure">{quantity(one.newest, one.unit)}</td>
              <td class="figure">
                {one.worse === "above" ? "≤" : "≥"} {quantity(one.limit, one.unit)}
              </td>
              <td class="figure">{when(one)}</td>
              <td>{one.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (folded)
    return (
      <details>
        <summary>
          {title}: {items.length}
        </summary>
        {table}
      </details>
    );
  return (
    <section>
      <h2>{title}</h2>
      {items.length ? table : <p class="quiet">{none}</p>}
    </section>
  );
}

function when(one: Threshold): string {
  if (one.verdict === "violated") return "now";
  if (!one.date) return "–";
  const [early, late] = [one.earliest?.slice(0, 10), one.latest?.slice(0, 10) ?? "later"];
  return `${one.date.slice(0, 10)} (${early} to ${late})`;
}

function Sizes({ sizes }: { sizes: Size[] }) {
  return (
    <section>
      <h2>Sizes</h2>
      <div class="wide" tabIndex={0} role="region" aria-label="Sizes">
        <table>
          <thead>
            <tr>
              <th scope="col">of</th>
              <th scope="col">now</th>
              <th scope="col">a day</th>
              <th scope="col">expected</th>
            </tr>
          </thead>
          <tbody>
            {sizes.map(one => (
              <tr>
                <th scope="row">
                  {one.title} <span class="quiet">{one.entity ?? one.db}</span>
                </th>
                <td class="figure">{quantity(one.newest, one.unit)}</td>
                <td class="figure">{quantity(one.per_day, one.unit)}</td>
                <td>{one.date ? `${quantity(one.expected, one.unit)} on ${one.date.slice(0, 10)}` : one.why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
