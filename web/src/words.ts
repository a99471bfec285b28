// Figures and moments as they are read: units beside numbers, times in the reader's zone.

const ABSENT = "–";

export function sessions(value: number | null): string {
  return value === null ? ABSENT : digits(value);
}

export function share(part: number | null): string {
  if (part === null) return ABSENT;
  const percent = part * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : `${percent.toFixed(0)} %`;
}

/** Three digits that count. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en", { useGrouping: true }).replaceAll(",", " ");
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.01) return value.toFixed(2);
  return value.toPrecision(1);
}

export function quantity(value: number | null, unit: string): string {
  if (value === null) return ABSENT;
  if (unit === "share") return share(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes_per_s") return `${bytes(value)} per s`;
  if (unit === "us") return latency(value);
  return `${digits(value)}${unit ? ` ${unit.replaceAll("_", " ")}` : ""}`;
}

export function bytes(value: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), units.length - 1);
  return `${digits(value / 2 ** (10 * step))} ${units[step]}`;
}

export function latency(us: number): string {
  if (us < 1000) return `${digits(us)} µs`;
  if (us < 1e6) return `${digits(us / 1000)} ms`;
  return `${digits(us / 1e6)} s`;
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${digits(seconds)} s`;
  if (seconds < 7200) return `${digits(seconds / 60)} min`;
  if (seconds < 172_800) return `${digits(seconds / 3600)} h`;
  return `${digits(seconds / 86_400)} days`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export function time(seconds: number): string {
  return clock.format(seconds * 1000);
}

export function day(seconds: number): string {
  return date.format(seconds * 1000);
}

/** What stands under an axis: as much of a moment as tells one from the next. */
export function tick(seconds: number, step: number): string {
  if (step < 60) return time(seconds);
  const midnight = minute.format(seconds * 1000) === "00:00";
  return step >= 86_400 || midnight ? day(seconds) : minute.format(seconds * 1000);
}

/** From when to when, the day once where it is one; today's is left out. */
export function period(from: number, to: number, now: number = Date.now() / 1000): string {
  const [first, last] = [day(from), day(to)];
  const [start, end] = [time(from), time(to)];
  if (first !== last) return `${first} ${start} to ${last} ${end}`;
  return first === day(now) ? `${start} to ${end}` : `${first}, ${start} to ${end}`;
}

export function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "Z");
}

export function utc(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Names of dimensions as they are said. */
const SAID: Record<string, string> = {
  wait_class: "wait class",
  event: "wait event",
  wait_kind: "kind of wait",
  blocker: "blocking session",
};

export function dimension(name: string): string {
  return SAID[name] ?? name.replaceAll("_", " ");
}

/** A value of a dimension; of sessions that tell none (null, in a filter empty) that. */
export function label(of: string, name: string | null): string {
  return name || (of === "blocker" ? "not blocked" : "not known");
}
