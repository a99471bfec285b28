import type { Fetched } from "../data/fetched";

/** Why there is nothing to be seen: a problem, or not yet. */
export function Trouble({ of, waiting }: { of: Fetched<unknown>; waiting: string }) {
  if (of.problem)
    return (
      <p class="warning" role="alert">
        ▲ {of.problem} <button onClick={() => location.reload()}>Try again</button>
      </p>
    );
  if (of.document && of.loading) return <span class="unseen" data-waiting />;
  return of.document ? null : (
    <p class="quiet" data-waiting>
      {waiting}
    </p>
  );
}
