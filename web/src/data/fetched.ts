// Documents of the API: what was seen last stays until the new is there.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { address as here, type Address } from "../address";

export type Parameters = Record<string, string | number | null | undefined | readonly string[]>;

export interface Fetched<T> {
  document: T | null;
  problem: string | null;
  loading: boolean;
}

const MOST_KEPT = 40;
const kept = new Map<string, unknown>();

export function url(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) for (const one of value) query.append(name, one);
    else if (value !== null && value !== undefined) query.set(name, String(value));
  }
  return `api/v1/${path}?${query}`;
}

export async function document<T>(address: string, signal?: AbortSignal): Promise<T> {
  if (kept.has(address)) return kept.get(address) as T;
  const answer = await fetch(address, { signal: signal ?? null, headers: { Accept: "application/json" } }).catch(
    unreachable,
  );
  const told = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(problem(told) ?? `The server answered ${answer.status}.`);
  // Only of what was recorded whole: of the rest there is more the next time.
  if (answer.headers.has("ETag")) kept.set(address, told);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return told as T;
}

/** The document at a path; null parameters: not yet. */
export function useDocument<T>(path: string, parameters: Parameters | null): Fetched<T> {
  const asked = parameters === null ? null : url(path, parameters);
  const [found, tell] = useState<Fetched<T>>({ document: null, problem: null, loading: true });
  const asking = useRef<Asking<T> | null>(null);
  asking.current ??= new Asking<T>(tell);
  // Before the browser paints: what is on the screen always says whether more is on its way.
  useLayoutEffect(() => {
    if (asked === null) asking.current!.drop();
    else asking.current!.ask(asked);
  }, [asked]);
  useLayoutEffect(() => () => asking.current!.drop(), []);
  return found;
}

/**
 * Asks for one document at a time. Where the reader has gone elsewhere the one before is aborted; where time alone has
 * moved on the next one waits until it is drawn: a server that takes longer than new samples to come never would be.
 */
class Asking<T> {
  private way: { at: Address; control: AbortController } | null = null;
  private next: string | null = null;

  constructor(private readonly tell: (found: Fetched<T> | ((before: Fetched<T>) => Fetched<T>)) => void) {}

  ask(address: string): void {
    if (this.way?.at === here.value) {
      this.next = address;
      return;
    }
    this.drop();
    const control = new AbortController();
    this.way = { at: here.value, control };
    this.tell(before => ({ ...before, loading: true }));
    document<T>(address, control.signal).then(
      document => control.signal.aborted || this.told(() => ({ document, problem: null, loading: false })),
      (error: Error) =>
        control.signal.aborted ||
        this.told(({ document }) => ({
          document: error instanceof Unreachable ? document : null,
          problem: error.message,
          loading: false,
        })),
    );
  }

  drop(): void {
    this.way?.control.abort();
    this.way = this.next = null;
  }

  private told(found: (before: Fetched<T>) => Fetched<T>): void {
    const { next } = this;
    this.way = this.next = null;
    this.tell(found);
    if (next !== null) this.ask(next);
  }
}

/** Nobody answered: what was seen before is still true of its time. */
class Unreachable extends Error {}

function unreachable(error: Error): never {
  throw error.name === "AbortError"
    ? error
    : new Unreachable("The server does not answer: does doctord serve still run?");
}

function problem(told: unknown): string | null {
  if (typeof told !== "object" || told === null) return null;
  const { title, detail, hint } = told as { title?: string; detail?: string; hint?: string };
  return [detail ?? title, hint].filter(Boolean).join(" – ") || null;
}
