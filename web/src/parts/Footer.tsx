const KEYS = [
  ["[ and ]", "earlier, later"],
  ["-", "a time twice as long"],
  ["p, n", "pause, now"],
  ["on a graph: arrows, Home, End", "move the cursor, with shift by ten"],
  ["on a graph: space, arrows, Enter", "mark a time and zoom to it"],
  ["on a latency map: shift and arrows", "select a rectangle"],
];

/** What cannot be seen: keys, and where programs may ask. */
export function Footer() {
  return (
    <footer>
      <details>
        <summary>Keys</summary>
        <dl>
          {KEYS.map(([key, does]) => (
            <div>
              <dt>{key}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </details>
      <a href="api/v1/openapi.json">API</a>
    </footer>
  );
}
