// The documents that several views ask for.
import { address, type Where } from "../address";
import type { Buckets, Diagnosis, Events, Figures, Load, Skew } from "./documents";
import { useDocument, type Fetched } from "./fetched";
import { recording, scope, span, within, type Span } from "./time";

// As many as a wide screen can show apart.
const BUCKETS = 600;
const MOST_EVENTS = 50;
const DIAGNOSED_EVERY_S = 60;

export function conditions(where: Where): string[] {
  return where.map(([dimension, value]) => `${dimension}:${value}`);
}

export function useLoad(by: string, where: Where = [], looked: Span | null = span.value): Fetched<Load> {
  return useDocument(
    "load",
    looked && { ...scope.value, ...within(looked), by, where: conditions(where), buckets: BUCKETS },
  );
}

export function useDimensions(where: Where): Fetched<{ dimensions: Skew[] }> {
  const looked = span.value;
  return useDocument("load/dimensions", looked && { ...scope.value, ...within(looked), where: conditions(where) });
}

/** When each bucket ends, seconds since the epoch. */
export function ends(of: Buckets): number[] {
  return Array.from({ length: of.buckets }, (_, number) => of.start_s + (number + 1) * of.bucket_s);
}

/** The verdict on the time that is looked at; of one that moves on, once a minute. */
export function useDiagnosis(): Fetched<Diagnosis> {
  return useDocument("findings", examined() && { ...scope.value, ...within(examined()!) });
}

/** What happened: restarts, settings that changed, gaps. */
export function useEvents(): Fetched<Events> {
  return useDocument("events", examined() && { ...scope.value, ...within(examined()!), limit: MOST_EVENTS });
}

/** The figures that are told of in that time. */
export function useFigures(): Fetched<Figures> {
  return useDocument("figures", examined() && { ...scope.value, ...within(examined()!) });
}

/** The time that is looked at; of one that moves on, in steps of a minute. */
function examined(): Span | null {
  const looked = span.value;
  if (!looked || address.value.last === null || !recording.value) return looked;
  const to = Math.ceil(looked.to / DIAGNOSED_EVERY_S) * DIAGNOSED_EVERY_S;
  return { from: to - (looked.to - looked.from), to };
}
