// The figures of a graph as a table: made when it is opened.
import { useState } from "preact/hooks";

interface Props {
  caption: string;
  head: string[];
  rows: () => string[][];
}

export function Table({ caption, head, rows }: Props) {
  const [open, opened] = useState(false);
  return (
    <details class="figures" onToggle={event => opened(event.currentTarget.open)}>
      <summary>Table</summary>
      {open && (
        <div class="wide" tabIndex={0} role="region" aria-label={caption}>
          <table>
            <caption class="unseen">{caption}</caption>
            <thead>
              <tr>
                {head.map(name => (
                  <th scope="col">{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows().map(([first, ...others]) => (
                <tr>
                  <th scope="row">{first}</th>
                  {others.map(cell => (
                    <td class="figure">{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
