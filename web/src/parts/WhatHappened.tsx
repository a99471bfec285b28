import type { Events } from "../data/documents";
import { Moment } from "./Moment";

/** Restarts, settings that changed, gaps: what the marks at the top of a graph stand for. */
export function WhatHappened({ told }: { told: Events }) {
  if (!told.events.length) return null;
  return (
    <section>
      <h2>
        What happened <span class="quiet">▼ on the graph</span>
      </h2>
      <ul>
        {told.events.map(event => (
          <li>
            <Moment at={Date.parse(event.ts) / 1000} /> <span class="quiet">{event.kind}</span>{" "}
            {event.subject && <b>{event.subject}</b>} {event.text}
          </li>
        ))}
      </ul>
      {told.total > told.events.length && <p class="quiet">{told.total - told.events.length} more: zoom in.</p>}
    </section>
  );
}
