// Up to when there is data, as the server says it: one stream for all of a page.
import { signal } from "@preact/signals";

/** By lake, seconds since the epoch. */
export const newest = signal<Record<string, number>>({});
export const connected = signal(false);

let stream: EventSource | null = null;

/** Listen while the page is seen: a browser has six connections to a server for all of its tabs. */
export function listen(): void {
  open();
  document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? hangUp() : open()));
  // A page that was left is kept by the browser for "back", with its connections.
  addEventListener("pagehide", hangUp);
  addEventListener("pageshow", open);
}

function open(): void {
  if (stream || document.visibilityState === "hidden") return;
  stream = new EventSource("api/v1/stream");
  stream.addEventListener("open", () => (connected.value = true));
  stream.addEventListener("error", () => (connected.value = false));
  stream.addEventListener("grown", told => {
    const { until } = JSON.parse((told as MessageEvent<string>).data) as { until: Record<string, string | null> };
    const known = Object.entries(until).filter(([, moment]) => moment !== null);
    newest.value = Object.fromEntries(known.map(([name, moment]) => [name, Date.parse(moment!) / 1000]));
  });
}

function hangUp(): void {
  stream?.close();
  stream = null;
}
