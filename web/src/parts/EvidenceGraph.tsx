// The graph of what an item of evidence speaks of, at its time.
import { go, type Where } from "../address";
import { useLoad } from "../data/asked";
import type { Evidence } from "../data/documents";
import { LoadGraph } from "./LoadGraph";
import { SeriesGraph } from "./SeriesGraph";
import { Trouble } from "./Trouble";

/** Sessions by a dimension, or a figure of something. */
export type Graph = { by: string; where: Where } | { figure: string; entity: string | null };

// Columns of sessions by what the API calls them; the rest have one name.
const DIMENSIONS: Record<string, string> = { db: "server", statement_id: "statement", sid: "session", blocker_sid: "blocker" };
const OF_SESSIONS = ["wait_class", "event", "wait_kind", "user", "program", "client", "database", ...Object.keys(DIMENSIONS)];

/** Which graph shows it, by the condition that finds its rows; null where none does. */
export function graphOf(item: Evidence): Graph | null {
  return item.table === "session" ? ofSessions(item.filter) : null;
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

export function EvidenceGraph({ of, title, marked }: { of: Graph; title: string; marked: [number, number] | null }) {
  if ("by" in of) return <Sessions by={of.by} where={of.where} marked={marked} />;
  return <SeriesGraph title={title} figure={of.figure} entity={of.entity} marked={marked} />;
}

function Sessions({ by, where, marked }: { by: string; where: Where; marked: [number, number] | null }) {
  const load = useLoad(by, where);
  function look(name: string | null): void {
    go({ view: "explore", of: null, by: null, where: [...where.filter(([other]) => other !== by), [by, name ?? ""]] });
  }
  return (
    <>
      {load.document && <LoadGraph load={load.document} marked={marked} height={180} onPick={look} />}
      <Trouble of={load} waiting="Reading…" />
    </>
  );
}
