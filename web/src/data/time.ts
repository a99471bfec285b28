// The time that is looked at: fixed, or the newest so many seconds, which move on as data comes.
import { computed, effect, signal } from "@preact/signals";
import { address, go } from "../address";
import { iso } from "../words";
import type { Held, Servers } from "./documents";
import { document as fetched, url } from "./fetched";
import { connected, listen, newest } from "./stream";

export interface Span {
  from: number;
  to: number;
}

const LIVE_S = 30;
const STEPS = 300;
const LEAST_S = 2;

export const lakes = signal<Held[] | null>(null);
export const trouble = signal<string | null>(null);

export const lake = computed(() => {
  const known = lakes.value ?? [];
  return known.find(one => one.lake === address.value.lake) ?? known[0] ?? null;
});

/** Up to when there is data in the lake that is looked at. */
export const end = computed(() => {
  const held = lake.value;
  if (!held) return null;
  return newest.value[held.lake] ?? (held.until ? Date.parse(held.until) / 1000 : null);
});

const now = signal(Date.now() / 1000);
setInterval(() => (now.value = Date.now() / 1000), 5000);

export const recording = computed(() => connected.value && end.value !== null && now.value - end.value < LIVE_S);

export const span = computed<Span | null>(() => {
  const { from, to, last } = address.value;
  if (from !== null && to !== null) return { from, to };
  if (end.value === null || last === null) return null;
  // While data comes in steps, so that hours are not drawn anew each second.
  const step = recording.value ? Math.max(1, Math.floor(last / STEPS)) : 1;
  const until = Math.ceil(end.value / step) * step;
  // A recording that is shorter fills the graph.
  const since = lake.value?.since ? Math.floor(Date.parse(lake.value.since) / 1000) - 1 : 0;
  return { from: Math.min(Math.max(until - last, since), until - LEAST_S), to: until };
});

/** Of the host that is looked at; null where that is not known, or there are several. */
export const cpus = computed(() => {
  const held = lake.value;
  const host = address.value.host ?? (held?.hosts.length === 1 ? held.hosts[0]! : null);
  return (host !== null && held?.cpus[host]) || null;
});

/** What every request has in common. */
export const scope = computed(() => ({ lake: lake.value?.lake ?? null, host: address.value.host }));

export function within(looked: Span): Record<string, string> {
  return { from: iso(looked.from), to: iso(looked.to) };
}

/** Look at a fixed time. */
export function zoom(from: number, to: number): void {
  const middle = (from + to) / 2;
  const half = Math.max(to - from, LEAST_S) / 2;
  go({ from: Math.floor(middle - half), to: Math.ceil(middle + half), last: null });
}

export async function watch(): Promise<void> {
  await readLakes();
  listen();
  // Of a lake that was empty, hosts are known once there is something in it.
  effect(() => {
    if (lakes.value?.some(held => held.until === null && newest.value[held.lake])) void readLakes();
  });
}

async function readLakes(): Promise<void> {
  try {
    lakes.value = (await fetched<Servers>(url("servers", {}))).lakes;
  } catch (error) {
    trouble.value = (error as Error).message;
  }
}
