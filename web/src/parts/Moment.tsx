import { period, time, utc } from "../words";

/** A moment in the reader's zone; UTC on hover. */
export function Moment({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={utc(at)}>
      {time(at)}
    </time>
  );
}

export function Period({ from, to }: { from: number; to: number }) {
  return <span title={`${utc(from)} to ${utc(to)}`}>{period(from, to)}</span>;
}
