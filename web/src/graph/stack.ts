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

/**
 * What was measured more seldom than there are buckets covers those before it, up to as far apart as values mostly are;
 * what lies further apart is a gap.
 */
export function covering(values: Values): Values {
  const measured = values.flatMap((value, at) => (value === null ? [] : [at]));
  const apart = measured.slice(1).map((at, number) => at - measured[number]!);
  const usual = apart.sort((one, other) => one - other)[Math.floor(apart.length / 2)] ?? 1;
  const filled = [...values];
  for (const at of measured)
    for (let back = at - 1; back > at - usual && back >= 0 && values[back] === null; back--) filled[back] = values[at]!;
  return filled;
}

/** Whether values are anywhere higher than others, beyond their rounding. */
export function isAbove(values: Values, others: Values): boolean {
  return values.some((value, at) => value !== null && value > (others[at] ?? 0) * 1.001);
}
