// The graph of what an item of evidence speaks of, at its time.
import { go, type Where } from "../address";
import { useLoad } from "../data/asked";
import type { Evidence } from "../data/documents";
import { Link } from "./Link";
import { LoadGraph } from "./LoadGraph";
import { SeriesGraph } from "./SeriesGraph";
import { Trouble } from "./Trouble";

/** Sessions by a dimension, or figures of something. */
export type Graph = { by: string; where: Where } | { figures: string[]; entity: string | null };

// Columns of sessions by what the API calls them; the rest have one name.
const DIMENSIONS: Record<string, string> = {
  db: "server",
  statement_id: "statement",
  sid: "session",
  blocker_sid: "blocker",
};
const OF_SESSIONS = [
  "wait_class",
  "event",
  "wait_kind",
  "user",
  "program",
  "client",
  "database",
  ...Object.keys(DIMENSIONS),
];
// What is told of a table whose evidence names no column.
const TELLING: Record<string, string[]> = {
  cpu: ["cpu_used_pct", "run_queue_tasks", "cpu.pressure_some_pct"],
  disk: ["disk.read_ms", "disk.write_ms", "disk_util_pct"],
  filesystem: ["filesystem_used_pct", "filesystem_used_bytes"],
  memory: ["memory_available_bytes", "memory.pressure_some_pct"],
  network: ["network.retransmits_per_s", "network.errors_per_s"],
};

/** Which graph shows it, by the condition that finds its rows; null where none does. */
export function graphOf({ table, filter }: Evidence): Graph | null {
  if (table === "session" || table === "statement") return ofSessions(filter);
  if (table === "statistic") return ofStatistic(filter);
  const entity = /^(?:device|mount|interface) = '(.*)'$/.exec(filter)?.[1] ?? null;
  const column = /^(\w+_(?:bytes|pct|ms|per_s))\b/.exec(filter)?.[1];
  if (column) return table === "process" ? null : { figures: [`${table}.${column}`], entity: null };
  return TELLING[table] ? { figures: TELLING[table], entity } : null;
}

function ofStatistic(filter: string): Graph | null {
  const name = /\bname = '([^']*)'/.exec(filter)?.[1];
  return name ? { figures: [`statistic:${name}`], entity: /\bentity = '([^']*)'/.exec(filter)?.[1] ?? null } : null;
}

function ofSessions(filter: string): Graph | null {
  const named = /^(\w+)(?: in \((.*)\)| = (.*)| is not null)/.exec(filter);
  if (!named || !OF_SESSIONS.includes(named[1]!)) return null;
  const by = DIMENSIONS[named[1]!] ?? named[1]!;
  const values = texts(named[2] ?? named[3] ?? "");
  // Of one value its parts are told, of several how they share it.
  if (values.length === 1) return { by: by === "event" ? "statement" : "event", where: [[by, values[0]!]] };
  return { by, where: values.map(value => [by, value]) };
}

function texts(list: string): string[] {
  return [...list.matchAll(/'((?:[^']|'')*)'|(\d+)/g)].map(found => found[1]?.replaceAll("''", "'") ?? found[2]!);
}

export function EvidenceGraph({ of, marked }: { of: Graph; marked: [number, number] | null }) {
  if ("by" in of) return <Sessions by={of.by} where={of.where} marked={marked} />;
  return (
    <>
      {of.figures.map(figure => (
        <SeriesGraph figure={figure} entity={of.entity} marked={marked} />
      ))}
    </>
  );
}

function Sessions({ by, where, marked }: { by: string; where: Where; marked: [number, number] | null }) {
  const load = useLoad(by, where);
  function look(name: string | null): void {
    go({ view: "explore", of: null, by: null, where: [...where.filter(([other]) => other !== by), [by, name ?? ""]] });
  }
  const statement = where.find(([name]) => name === "statement")?.[1];
  return (
    <>
      {statement && (
        <p>
          <Link to={{ view: "statement", of: statement }}>The statement's page</Link>
        </p>
      )}
      {load.document && <LoadGraph load={load.document} marked={marked} height={180} onPick={look} />}
      <Trouble of={load} waiting="Reading…" />
    </>
  );
}
