// Documents of the API: a request that a newer one supersedes is aborted, what was seen last stays until the new is there.
import { useLayoutEffect, useState } from "preact/hooks";

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
  // Before the browser paints: what is on the screen always says whether more is on its way.
  useLayoutEffect(() => {
    if (asked === null) return;
    const superseded = new AbortController();
    tell(before => ({ ...before, loading: true }));
    document<T>(asked, superseded.signal).then(
      document => tell({ document, problem: null, loading: false }),
      (error: Error) =>
        superseded.signal.aborted ||
        tell(({ document }) => ({
          document: error instanceof Unreachable ? document : null,
          problem: error.message,
          loading: false,
        })),
    );
    return () => superseded.abort();
  }, [asked]);
  return found;
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
