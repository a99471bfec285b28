// The time that is looked at, and how to move it. Keys: [ and ] move, - widens, n now, p pause.
import { useEffect } from "preact/hooks";
import { address, go } from "../address";
import { span, zoom } from "../data/time";
import { Period } from "./Moment";
import { duration } from "../words";

const LAST = [300, 900, 3600, 21_600, 86_400, 604_800];
const LAST_SAID = ["5 min", "15 min", "1 h", "6 h", "1 day", "7 days"];

export function TimeBar() {
  const looked = span.value;
  useEffect(() => {
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const { last } = address.value;
  return (
    <div class="time" role="toolbar" aria-label="Time">
      <span class="choices">
        {LAST.map((seconds, number) => (
          <button aria-pressed={last === seconds} onClick={() => go({ last: seconds, from: null, to: null })}>
            {LAST_SAID[number]}
          </button>
        ))}
      </span>
      <span class="moves">
        <button title="Earlier (key [)" onClick={() => shift(-0.5)}>
          ◀ Earlier
        </button>
        <button title="Later (key ])" onClick={() => shift(0.5)}>
          Later ▶
        </button>
        <button title="Zoom out (key -)" onClick={widen}>
          Zoom out
        </button>
        <button class="wide-only" title="Back to the view before" onClick={() => history.back()}>
          Back
        </button>
        <button class="wide-only" title="On to the view after" onClick={() => history.forward()}>
          Forward
        </button>
        {last === null ? (
          <button title="Go on with the newest (key n)" onClick={now}>
            Now ▶▶
          </button>
        ) : (
          <button title="Stay at this time (key p)" onClick={pause}>
            Pause
          </button>
        )}
      </span>
      {looked && (
        <span class="looked">
          <Period from={looked.from} to={looked.to} /> <span class="quiet">({duration(looked.to - looked.from)})</span>
        </span>
      )}
    </div>
  );
}

function shift(part: number): void {
  const looked = span.value;
  if (!looked) return;
  const by = (looked.to - looked.from) * part;
  zoom(looked.from + by, looked.to + by);
}

function widen(): void {
  const looked = span.value;
  if (!looked) return;
  const half = (looked.to - looked.from) / 2;
  zoom(looked.from - half, looked.to + half);
}

function pause(): void {
  if (span.value) zoom(span.value.from, span.value.to);
}

function now(): void {
  go({ last: 3600, from: null, to: null });
}

const KEYS: Record<string, () => void> = {
  "[": () => shift(-0.5),
  "]": () => shift(0.5),
  "-": widen,
  n: now,
  p: pause,
};

function key(event: KeyboardEvent): void {
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  KEYS[event.key]?.();
}
