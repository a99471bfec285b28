// Where the reader is: all of it stands in the URL, so that a link shows the same, and back and forward work.
import { computed, signal } from "@preact/signals";
import { iso } from "./words";

/** An empty value: sessions that tell none. */
export type Where = readonly (readonly [dimension: string, value: string])[];

export interface Address {
  view: string;
  lake: string | null;
  host: string | null;
  /** The newest so many seconds; null where `from` and `to` (seconds since the epoch) are fixed. */
  last: number | null;
  from: number | null;
  to: number | null;
  by: string | null;
  where: Where;
  /** What a view shows: a cause, a statement's id, what a map is of. */
  of: string | null;
  /** Figures that are shown beside the load; none named: the usual ones. */
  figures: readonly string[];
  /** How long before the time that is looked at the time begins that it is compared with; null: right before. */
  ago: number | null;
}

const LAST_S = 3600;

export function read(query: string): Address {
  const told = new URLSearchParams(query);
  const [from, to] = [moment(told.get("from")), moment(told.get("to"))];
  const fixed = from !== null && to !== null && to > from;
  return {
    view: told.get("view") ?? "now",
    lake: told.get("lake"),
    host: told.get("host"),
    last: fixed ? null : (positive(told.get("last")) ?? LAST_S),
    from: fixed ? from : null,
    to: fixed ? to : null,
    by: told.get("by"),
    where: told.getAll("where").map(pair),
    of: told.get("of"),
    figures: told.getAll("figure"),
    ago: positive(told.get("ago")),
  };
}

export function written(address: Address): string {
  const told = new URLSearchParams();
  if (address.view !== "now") told.set("view", address.view);
  for (const name of ["lake", "host", "by", "of"] as const) if (address[name] !== null) told.set(name, address[name]);
  if (address.from !== null && address.to !== null) {
    told.set("from", iso(address.from));
    told.set("to", iso(address.to));
  } else if (address.last !== null && address.last !== LAST_S) told.set("last", String(address.last));
  if (address.ago !== null) told.set("ago", String(address.ago));
  for (const [dimension, value] of address.where) told.append("where", `${dimension}:${value}`);
  for (const figure of address.figures) told.append("figure", figure);
  const query = told.toString();
  return query ? `?${query}` : location.pathname;
}

export const address = signal(read(location.search));

/** Go there; `link` gives where to, for links that can be opened in a tab of their own. */
export function go(change: Partial<Address>): void {
  const next = { ...address.value, ...change };
  if (written(next) !== written(address.value)) history.pushState(null, "", written(next));
  address.value = next;
}

export function link(change: Partial<Address>): string {
  return written({ ...address.value, ...change });
}

export const view = computed(() => address.value.view);

addEventListener("popstate", () => (address.value = read(location.search)));

function moment(text: string | null): number | null {
  const found = text === null ? NaN : Date.parse(text) / 1000;
  return Number.isFinite(found) ? found : null;
}

function positive(text: string | null): number | null {
  const found = Number(text);
  return found > 0 ? found : null;
}

function pair(text: string): [string, string] {
  const colon = text.indexOf(":");
  return [text.slice(0, colon), text.slice(colon + 1)];
}
