// Bands on top of each other.

export type Values = (number | null)[];

/** The upper edges of bands, the lowest band first; null where a band was not measured and none below it was. */
export function stacked(bands: readonly Values[]): Values[] {
  const edges: Values[] = [];
  for (const band of bands) {
    const below = edges.at(-1);
    edges.push(band.map((value, at) => (value === null ? (below?.[at] ?? null) : (below?.[at] ?? 0) + value)));
  }
  return edges;
}

/** The number of the band at a height; null above and below all. */
export function bandAt(edges: readonly Values[], at: number, height: number): number | null {
  if (height < 0) return null;
  const found = edges.findIndex(edge => (edge[at] ?? 0) > height);
  return found < 0 ? null : found;
}

/** A step begins where the one before ends: the start of the first is put in front. */
export function fromStart(times: readonly number[], bucket: number): number[] {
  return times.length ? [times[0]! - bucket, ...times] : [];
}
