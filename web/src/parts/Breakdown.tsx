// The parts of the load, the largest first: each is a button that looks into it.
import { colour, REST } from "../graph/colours";
import type { Load } from "../data/documents";
import { label, sessions, share } from "../words";
import { Bar } from "./Bar";

interface Props {
  load: Load;
  onPick: (name: string | null) => void;
  most?: number;
}

export function Breakdown({ load, onPick, most = 12 }: Props) {
  const parts = load.bands.slice(0, most);
  const rest = load.sessions - parts.reduce((sum, part) => sum + part.sessions, 0);
  return (
    <ol class="breakdown">
      {parts.map(part => (
        <li>
          <button onClick={() => onPick(part.name)} title={part.text ?? undefined}>
            <span class={`swatch c${colour(load.dimension, part.name)}`} />
            <span class="label">{part.text ?? label(load.dimension, part.name)}</span>
            <Bar share={part.share} />
            <span class="figure">{sessions(part.sessions)}</span>
            <span class="figure quiet">{share(part.share)}</span>
          </button>
        </li>
      ))}
      {rest > load.sessions / 1000 && (
        <li class="rest">
          <span class={`swatch c${REST}`} />
          <span class="label">others</span>
          <Bar share={rest / load.sessions} />
          <span class="figure">{sessions(rest)}</span>
          <span class="figure quiet">{share(rest / load.sessions)}</span>
        </li>
      )}
    </ol>
  );
}
