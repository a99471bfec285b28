// One colour a label for as long as the page is open; those of wait classes are the report's.
import { signal } from "@preact/signals";

// In the order in which they are stacked, CPU at the bottom, as Oracle's and the report's graphs do.
export const CLASSES = [
  "CPU",
  "Scheduler",
  "User I/O",
  "System I/O",
  "Commit",
  "Application",
  "Concurrency",
  "Configuration",
  "Network",
  "Other",
];
export const REST = 9;

const given = new Map<string, Map<string | null, number>>();

/** The number of a label's colour, 0 to 9. */
export function colour(dimension: string, name: string | null): number {
  if (dimension === "wait_class") return name !== null && CLASSES.includes(name) ? CLASSES.indexOf(name) : REST;
  const known = given.get(dimension) ?? new Map<string | null, number>();
  given.set(dimension, known);
  // Neighbours of a palette are hard to tell apart: in steps of 7, every ninth alike.
  if (!known.has(name)) known.set(name, (known.size * 7 + 2) % REST);
  return known.get(name)!;
}

/** Changes when the colours do: canvases are drawn anew. */
export const theme = signal(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (theme.value += 1));

/** A colour of the style sheet, for canvases. */
export function drawn(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
