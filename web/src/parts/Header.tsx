// Which server, which view.
import { address, go, view } from "../address";
import { end, lake, lakes, recording } from "../data/time";
import { Link } from "./Link";
import { Moment } from "./Moment";
import { TimeBar } from "./TimeBar";

const VIEWS = {
  now: "Now",
  explore: "Explore",
  map: "Latency",
  blocking: "Blocking",
  compare: "Compare",
  capacity: "Capacity",
};

export function Header() {
  const held = lake.value;
  return (
    <header>
      <div class="top">
        <strong class="name">Doctor D</strong>
        <Servers />
        <span class="state" role="status">
          {end.value !== null &&
            (recording.value ? (
              <>● Live</>
            ) : (
              <>
                ○ Not live: data up to <Moment at={end.value} />
              </>
            ))}
        </span>
      </div>
      <nav aria-label="Views">
        {Object.entries(VIEWS).map(([name, title]) => (
          <Link to={{ view: name, of: null }} current={view.value === name}>
            {title}
          </Link>
        ))}
      </nav>
      <TimeBar />
      {held?.problems.map(problem => (
        <p class="warning">▲ {problem}</p>
      ))}
    </header>
  );
}

function Servers() {
  const known = (lakes.value ?? []).flatMap(held =>
    (held.hosts.length ? held.hosts : [""]).map(host => ({
      held,
      host,
      name: named(host, held.lake, lakes.value!.length),
    })),
  );
  const { lake: asked, host } = address.value;
  if (known.length < 2) return <span class="server">{known[0]?.name}</span>;
  const at = known.findIndex(
    one => (asked === null || one.held.lake === asked) && (host === null || one.host === host),
  );
  function chosen(event: Event): void {
    const one = known[Number((event.target as HTMLSelectElement).value)]!;
    go({ lake: one.held.lake, host: one.host || null, where: [] });
  }
  return (
    <select aria-label="Server" value={Math.max(at, 0)} onChange={chosen}>
      {known.map((one, number) => (
        <option value={number}>{one.name}</option>
      ))}
    </select>
  );
}

function named(host: string, held: string, several: number): string {
  return host && several > 1 ? `${host} (${held})` : host || held;
}
