"use strict";
// What the columns of a map hold together, how two intervals differ, and how figures are written. Nothing is drawn here.
// Latencies and times are microseconds, moments milliseconds; a part is {from, to}, columns with `to` outside.

const SHARES = [0.5, 0.9, 0.95, 0.99, 0.999];
// Less than this share of the waits in other rows is no change.
const ALIKE = 0.01;

/** The sums of a part: waits and time, by row and of all rows, and the seconds that were measured. */
function summed(map, part) {
  const none = () => new Array(map.rows.length).fill(0);
  const sum = { seconds: 0, count: 0, waited: 0, counts: none(), waits: none() };
  for (let column = part.from; column < part.to; column++) {
    const counts = map.counts[column];
    if (!counts) continue;
    sum.seconds += map.seconds[column];
    for (let row = 0; row < counts.length; row++) {
      sum.counts[row] += counts[row];
      sum.waits[row] += map.waits[column][row];
    }
  }
  sum.count = total(sum.counts);
  sum.waited = total(sum.waits);
  return sum;
}

function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The latency that a share of the waits stays within, evenly spread in its row, and the row's edges; null for none. */
function quantile(map, sum, share) {
  let left = share * sum.count;
  const filled = sum.counts.map((count, row) => row).filter((row) => sum.counts[row] > 0);
  for (const row of filled) {
    const count = sum.counts[row];
    if (left <= count || row === filled[filled.length - 1]) {
      const [low, high] = map.rows[row];
      return { us: high === null ? low : low + (high - low) * Math.min(left / count, 1), low, high };
    }
    left -= count;
  }
  return null;
}

/** What of B lies in other rows than in A: by row, together, and the neighbouring rows that gained and lost most. */
function difference(map, a, b) {
  if (!a.count || !b.count) return { gained: [], moved: 0, grown: null, shrunk: null };
  const gained = map.rows.map((_, row) => b.counts[row] / b.count - a.counts[row] / a.count);
  const runs = [];
  for (let row = 0; row < gained.length; row++) {
    const last = runs[runs.length - 1];
    if (last && Math.sign(last.gained) === Math.sign(gained[row])) {
      last.high = map.rows[row][1];
      last.gained += gained[row];
    } else {
      runs.push({ low: map.rows[row][0], high: map.rows[row][1], gained: gained[row] });
    }
  }
  const most = (sign) =>
    runs.filter((run) => Math.sign(run.gained) === sign).sort((x, y) => sign * (y.gained - x.gained))[0] || null;
  return { gained, moved: total(gained.map(Math.abs)) / 2, grown: most(1), shrunk: most(-1) };
}

/** The difference in words, as `map_difference.py` says it. */
function differenceInWords(map, a, b) {
  if (!a.seconds || !b.seconds) return ["Not measured in both intervals."];
  const [before, after] = [a.count / a.seconds, b.count / b.seconds];
  const ratio = before ? three(after / before) : null;
  const times = ratio === null ? "" : ratio === "1" ? ": as many" : `: ${ratio} times as many`;
  const said = [`Waits per second: ${amount(before, "count")} in A, ${amount(after, "count")} in B${times}.`];
  if (map.kind === "mean") {
    const mean = (sum) => (sum.count ? latency(sum.waited / sum.count) : "none");
    return [...said, `Mean: ${mean(a)} in A, ${mean(b)} in B. More is not known: the source knows no distribution.`];
  }
  const found = difference(map, a, b);
  if (!found.grown || !found.shrunk || found.moved < ALIKE) {
    return found.gained.length ? [...said, `They are spread alike: ${three(100 * found.moved)} % differ.`] : said;
  }
  const lost = `${rangeOf(found.shrunk.low, found.shrunk.high)} lost ${three(-100 * found.shrunk.gained)} %`;
  const gained = `${rangeOf(found.grown.low, found.grown.high)} gained ${three(100 * found.grown.gained)} %`;
  said.push(`${three(100 * found.moved)} % of the waits lie elsewhere: ${lost}, ${gained}.`);
  for (const [name, share] of [["Median", 0.5], ["99 %", 0.99]]) {
    said.push(`${name}: ${quantileInWords(map, a, share)} in A, ${quantileInWords(map, b, share)} in B.`);
  }
  return said;
}

function quantileInWords(map, sum, share) {
  const found = quantile(map, sum, share);
  if (!found) return "none";
  return found.high === null ? `over ${latency(found.low)}` : latency(found.us);
}

// Figures in words.

function three(value) {
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function latency(us) {
  if (us >= 0.9995e6) return `${three(us / 1e6)} s`;
  return us >= 0.9995e3 ? `${three(us / 1e3)} ms` : `${three(us)} us`;
}

/** A rate: waits a second, or seconds waited a second. */
function amount(rate, what) {
  if (what === "time") return latency(rate * 1e6);
  if (rate >= 1e9) return `${three(rate / 1e9)}G`;
  if (rate >= 1e6) return `${three(rate / 1e6)}M`;
  return rate >= 1e4 ? `${three(rate / 1e3)}k` : three(rate);
}

function rangeOf(low, high) {
  if (high === null) return `> ${latency(low)}`;
  return low ? `${latency(low)} to ${latency(high)}` : `up to ${latency(high)}`;
}

function startOf(map, column) {
  return Math.round(map.ends[column] - 1000 * map.seconds[column]);
}

function clock(moment, form) {
  const text = new Date(moment).toISOString();
  return { day: text.slice(0, 10), minute: text.slice(11, 16), second: text.slice(11, 19), fine: text.slice(11, 23) }[form];
}

/** From when to when, the day once, and parts of a second only where they tell something. */
function momentsOf(since, until) {
  const form = until - since < 10000 && (since % 1000 || until % 1000) ? "fine" : "second";
  const days = [clock(since, "day"), clock(until, "day")];
  const end = `${days[0] === days[1] ? "" : `${days[1]} `}${clock(until, form)}`;
  return `${days[0]} ${clock(since, form)} to ${end}`;
}

function partInWords(map, part) {
  return part.to > part.from ? momentsOf(startOf(map, part.from), map.ends[part.to - 1]) : "nothing";
}

/** The column in which a moment lies; -1 before the first and after the last. */
function columnAt(map, moment) {
  if (!map.ends.length || moment < startOf(map, 0)) return -1;
  let low = 0;
  let high = map.ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (map.ends[middle] < moment) low = middle + 1;
    else high = middle;
  }
  return low < map.ends.length ? low : -1;
}
