// The figures of a graph as a table, made when it is opened, and as a file for a spreadsheet.
import { useState } from "preact/hooks";

interface Props {
  caption: string;
  head: string[];
  rows: () => string[][];
  /** The same with moments in UTC and all digits, for a file. */
  exact?: () => string[][];
}

export function Table({ caption, head, rows, exact = rows }: Props) {
  const [open, opened] = useState(false);
  return (
    <details class="figures" onToggle={event => opened(event.currentTarget.open)}>
      <summary>Table</summary>
      {open && (
        <>
          <button class="small" onClick={() => save(caption, [head, ...exact()])}>
            Save as CSV
          </button>
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
        </>
      )}
    </details>
  );
}

function save(name: string, rows: string[][]): void {
  const file = document.createElement("a");
  file.href = URL.createObjectURL(new Blob([csv(rows)], { type: "text/csv" }));
  file.download = `${name}.csv`;
  file.click();
  URL.revokeObjectURL(file.href);
}

/** RFC 4180; a name that a stranger chose is no formula of a spreadsheet. */
export function csv(rows: readonly string[][]): string {
  const quoted = (cell: string) => `"${cell.replace(/^[=+@\-]/, "'$&").replaceAll('"', '""')}"`;
  return rows.map(row => `${row.map(quoted).join(",")}\r\n`).join("");
}
