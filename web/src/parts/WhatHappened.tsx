import type { Events, Happened } from "../data/documents";
import { Moment } from "./Moment";

/** Events that say the same, each with all of its moments: a server that refuses says so every few seconds. */
function grouped(events: readonly Happened[]): [Happened, number[]][] {
  const groups = new Map<string, [Happened, number[]]>();
  for (const event of events) {
    const same = JSON.stringify([event.kind, event.subject, event.text]);
    const group = groups.get(same) ?? [event, []];
    group[1].push(Date.parse(event.ts) / 1000);
    groups.set(same, group);
  }
  return [...groups.values()];
}

/** Restarts, settings that changed, gaps: what the marks at the top of a graph stand for. */
export function WhatHappened({ told }: { told: Events }) {
  if (!told.events.length) return null;
  return (
    <section>
      <h2>
        What happened <span class="quiet">▼ on the graph</span>
      </h2>
      <ul>
        {grouped(told.events).map(([event, moments]) => (
          <li>
            <Moment at={moments[0]!} /> <span class="quiet">{event.kind}</span>{" "}
            {event.subject && <b>{event.subject}</b>} {event.text}
            {moments.length > 1 && (
              <span class="quiet">
                {" "}
                {moments.length} times until <Moment at={moments.at(-1)!} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {told.total > told.events.length && <p class="quiet">{told.total - told.events.length} more: zoom in.</p>}
    </section>
  );
}
