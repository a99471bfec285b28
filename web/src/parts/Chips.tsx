// What the load is narrowed down to: each filter a chip that takes itself away.
import { address, go } from "../address";
import { dimension, label } from "../words";

export function Chips() {
  const { where } = address.value;
  if (!where.length) return null;
  return (
    <div class="chips" role="group" aria-label="Filters">
      <span class="quiet">Only</span>
      {where.map(([name, value], number) => (
        <button
          class="chip"
          title="Take this filter away"
          aria-label={`Take away the filter ${dimension(name)} ${label(name, value)}`}
          onClick={() => go({ where: where.filter((_, other) => other !== number) })}
        >
          {dimension(name)} <b>{label(name, value)}</b> ✕
        </button>
      ))}
      {where.length > 1 && (
        <button class="chip" onClick={() => go({ where: [] })}>
          All ✕
        </button>
      )}
    </div>
  );
}
