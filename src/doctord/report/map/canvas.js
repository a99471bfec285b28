"use strict";
// Draws a panel: the cells of a part of a map, its times and latencies, and at the right the sums of that part.

const MARGIN = { left: 68, top: 30, foot: 22, between: 10 };
const SIDE = { wide: 150, narrow: 72 };
const MARK_WIDTH = 32; // beside the bars, for the names of the percentiles
const NARROW = 640;
const LEAST_HEIGHT = 120;
const LABEL_HEIGHT = 12;
const TIME_WIDTH = 72;
const TIME_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const DAY_S = 86400;
const MARKED_SHARES = [0.5, 0.95, 0.99];
const FONT = "11px system-ui, sans-serif";
const STEPS = 256;

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function isDark() {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** How far up the colours a value lies, as `map_grid.share` has it. */
function shareOf(value, largest, scale) {
  const part = largest ? value / largest : 0;
  if (scale === "root") return Math.sqrt(part);
  return scale === "log" ? Math.log1p(part * DATA.logSteepness) / Math.log1p(DATA.logSteepness) : part;
}

/** The colours of a palette in even steps: on dark paper much is bright. Those of a difference begin at the paper's. */
function colours(palette, fromPaper) {
  const ordered = isDark() ? [...palette].reverse() : palette;
  const anchors = fromPaper ? [paper(), ...ordered] : ordered;
  return Array.from({ length: STEPS }, (_, step) => {
    const place = (step / (STEPS - 1)) * (anchors.length - 1);
    const below = Math.min(Math.floor(place), anchors.length - 2);
    return anchors[below].map((low, part) => Math.round(low + (anchors[below + 1][part] - low) * (place - below)));
  });
}

function paper() {
  return css("--paper").match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
}

function rgb(colour) {
  return `rgb(${colour.join(",")})`;
}

/** Where things stand on a canvas of this width. */
function layoutOf(canvas, map) {
  const rowHeight = map.rows.length <= 16 ? 14 : map.rows.length <= 26 ? 12 : 8;
  const height = Math.max(LEAST_HEIGHT, rowHeight * map.rows.length);
  const whole = canvas.clientWidth;
  const side = whole < NARROW ? SIDE.narrow : SIDE.wide;
  const width = Math.max(whole - MARGIN.left - MARGIN.between - side, 50);
  const sideLeft = MARGIN.left + width + MARGIN.between;
  return { left: MARGIN.left, top: MARGIN.top, width, height, side, sideLeft, foot: MARGIN.top + height };
}

/** What the cell of a column and row is coloured by, or null in a gap: a rate, or a share less that in A. */
function valueOf(state, what, column, row) {
  const { map } = state;
  const counts = map.counts[column];
  if (!counts) return null;
  const seconds = map.seconds[column] || 1;
  if (what === "count") return counts[row] / seconds;
  if (what === "time") return map.waits[column][row] / 1e6 / seconds;
  const waits = state.totals[column];
  return waits ? counts[row] / waits - state.inA.shares[row] : 0;
}

/** The largest value of a part, without its sign. */
function largestOf(state, what) {
  let largest = 0;
  for (let column = state.from; column < state.to; column++) {
    for (let row = 0; row < state.map.rows.length; row++) {
      largest = Math.max(largest, Math.abs(valueOf(state, what, column, row) || 0));
    }
  }
  return largest;
}

/** Differences are coloured evenly: what chance alone makes must not stand out. */
function scaleOf(state, what) {
  return what === "difference" ? "linear" : state.scale;
}

/** Draws everything but the cursor, into the panel's own picture, and says what the colours mean. */
function render(panel, state) {
  const { canvas, what } = panel;
  const layout = layoutOf(canvas, state.map);
  const density = devicePixelRatio || 1;
  canvas.style.height = `${layout.foot + MARGIN.foot}px`;
  canvas.width = Math.round(canvas.clientWidth * density);
  canvas.height = Math.round((layout.foot + MARGIN.foot) * density);
  panel.layout = layout;
  panel.picture = document.createElement("canvas");
  panel.picture.width = canvas.width;
  panel.picture.height = canvas.height;
  const ctx = panel.picture.getContext("2d");
  ctx.scale(density, density);
  ctx.font = FONT;
  const ink = { ink: css("--ink"), quiet: css("--quiet"), rule: css("--rule"), paper: css("--paper"), mark: css("--c6") };
  const shades = what === "difference"
    ? { more: colours(DATA.palettes.red, true), less: colours(DATA.palettes.blue, true) }
    : { more: colours(what === "count" ? DATA.palettes.blue : DATA.palettes.red) };
  const largest = largestOf(state, what);
  if (state.map.kind === "mean") drawMeans(ctx, layout, state, what, largest, shades.more);
  else drawCells(ctx, layout, state, what, largest, shades, density);
  drawGaps(ctx, layout, state, ink);
  drawLatencies(ctx, layout, state.map, ink);
  drawTimes(ctx, layout, state, ink);
  drawMarkers(ctx, layout, state, ink);
  if (what === "difference") drawShares(ctx, layout, state, ink);
  else drawSums(ctx, layout, state, what, shades.more, ink);
  legend(panel.legend, what, largest, shades, scaleOf(state, what));
}

/** One pixel of a small picture for each cell, or of several columns for the largest; then as large as the panel. */
function drawCells(ctx, layout, state, what, largest, shades, density) {
  const rows = state.map.rows.length;
  const number = state.to - state.from;
  const wide = Math.min(number, Math.floor(layout.width * density));
  if (!wide || !rows) return;
  const small = document.createElement("canvas");
  small.width = wide;
  small.height = rows;
  const context = small.getContext("2d");
  const image = context.createImageData(wide, rows);
  for (let x = 0; x < wide; x++) {
    const first = state.from + Math.floor((x * number) / wide);
    const last = Math.max(state.from + Math.floor(((x + 1) * number) / wide), first + 1);
    for (let row = 0; row < rows; row++) {
      let value = 0;
      for (let column = first; column < last; column++) {
        const one = valueOf(state, what, column, row) || 0;
        if (Math.abs(one) > Math.abs(value)) value = one;
      }
      if (!value) continue;
      const share = shareOf(Math.abs(value), largest, scaleOf(state, what));
      const colour = (value > 0 ? shades.more : shades.less)[Math.round(share * (STEPS - 1))];
      image.data.set([...colour, 255], 4 * ((rows - 1 - row) * wide + x));
    }
  }
  context.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(small, layout.left, layout.top, layout.width, layout.height);
}

/** Where a mean is all that is known, a mark at it. */
function drawMeans(ctx, layout, state, what, largest, shades) {
  for (let column = state.from; column < state.to; column++) {
    const mean = state.map.means[column];
    if (!mean) continue;
    const row = rowOf(state.map, mean);
    const value = valueOf(state, what, column, row);
    if (!value) continue;
    const high = state.map.rows[row][1];
    const low = state.map.rows[row][0] || high / Math.SQRT2; // rows of means are half powers of two
    const inside = clamp(Math.log(mean / low) / Math.log(high / low), 0, 1);
    const y = layout.foot - ((row + inside) * layout.height) / state.map.rows.length;
    const left = xOf(layout, state, column);
    ctx.fillStyle = rgb(shades[Math.round(shareOf(value, largest, state.scale) * (STEPS - 1))]);
    ctx.fillRect(left, y - 2, Math.max(xOf(layout, state, column + 1) - left, 1.5), 4);
  }
}

function rowOf(map, us) {
  return map.rows.findIndex(([, high]) => high === null || us <= high);
}

function xOf(layout, state, column) {
  return layout.left + ((column - state.from) * layout.width) / Math.max(state.to - state.from, 1);
}

function drawGaps(ctx, layout, state, ink) {
  ctx.save();
  ctx.beginPath();
  for (let column = state.from; column < state.to; column++) {
    if (state.map.counts[column] || (state.map.means && state.map.means[column] !== null)) continue;
    const left = xOf(layout, state, column);
    ctx.rect(left, layout.top, Math.max(xOf(layout, state, column + 1) - left, 1), layout.height);
  }
  ctx.clip();
  ctx.beginPath();
  for (let x = layout.left - layout.height; x < layout.left + layout.width; x += 6) {
    ctx.moveTo(x, layout.foot);
    ctx.lineTo(x + layout.height, layout.top);
  }
  ctx.strokeStyle = ink.quiet;
  ctx.globalAlpha = 0.6;
  ctx.stroke();
  ctx.restore();
}

/** The frame, as many names of rows as fit, and a line under what is above the last edge. */
function drawLatencies(ctx, layout, map, ink) {
  const height = layout.height / Math.max(map.rows.length, 1);
  const every = Math.ceil(LABEL_HEIGHT / height);
  const last = map.rows.length - 1;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillStyle = ink.quiet;
  map.rows.forEach(([low, high], row) => {
    if ((last - row) % every) return;
    // Between the marks of means an edge is a level; a row of cells has its name beside its middle.
    const y = layout.foot - (row + (map.kind === "mean" ? 1 : 0.5)) * height;
    ctx.fillText(high === null ? `> ${latency(low)}` : latency(high), layout.left - 7, y);
  });
  ctx.strokeStyle = ink.quiet;
  ctx.beginPath();
  ctx.moveTo(layout.left - 0.5, layout.top);
  ctx.lineTo(layout.left - 0.5, layout.foot + 0.5);
  ctx.lineTo(layout.left + layout.width, layout.foot + 0.5);
  if (map.rows.length && map.rows[last][1] === null) {
    const y = Math.round(layout.top + height) + 0.5;
    ctx.moveTo(layout.left - 5, y);
    ctx.lineTo(layout.sideLeft + layout.side, y);
  }
  ctx.stroke();
}

/** Round moments, as many as have room, each under the place in its column; columns may differ in length. */
function drawTimes(ctx, layout, state, ink) {
  const { map, from, to } = state;
  if (to <= from) return;
  const [since, until] = [startOf(map, from) / 1000, map.ends[to - 1] / 1000];
  const room = Math.max(Math.floor(layout.width / TIME_WIDTH), 1);
  const days = Math.ceil((until - since) / room / DAY_S) * DAY_S;
  const step = TIME_STEPS_S.find((seconds) => (until - since) / seconds <= room) || days;
  let last = -Infinity;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = ink.quiet;
  for (let moment = Math.ceil(since / step) * step; moment <= until; moment += step) {
    const column = columnAt(map, moment * 1000);
    const inside = (moment - startOf(map, column) / 1000) / (map.seconds[column] || 1);
    const x = xOf(layout, state, column + Math.min(Math.max(inside, 0), 1));
    if (x - last < TIME_WIDTH - 10) continue;
    ctx.fillRect(Math.round(x), layout.foot, 1, 4);
    ctx.fillText(clock(moment * 1000, step >= DAY_S ? "day" : step >= 60 ? "minute" : "second"), x, layout.foot + 16);
    last = x;
  }
}

/** Lines with a letter where something happened, and brackets over A and B. */
function drawMarkers(ctx, layout, state, ink) {
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = ink.mark;
  let last = -Infinity;
  for (const marker of state.map.markers) {
    const column = columnAt(state.map, marker.at);
    if (column < state.from || column >= state.to) continue;
    const x = xOf(layout, state, column + 0.5);
    ctx.fillRect(x, layout.top - 3, 1, layout.height + 3);
    if (x - last < 9) continue;
    ctx.fillText(marker.kind.slice(0, 1).toUpperCase(), x, layout.top - 5);
    last = x;
  }
  for (const [name, part] of [["A", state.a], ["B", state.b]]) {
    if (!part || part.to <= state.from || part.from >= state.to) continue;
    const left = xOf(layout, state, Math.max(part.from, state.from));
    const right = xOf(layout, state, Math.min(part.to, state.to));
    ctx.fillStyle = ink.ink;
    ctx.fillRect(left, 11, right - left, 2);
    ctx.fillRect(left, 11, 1, 5);
    ctx.fillRect(right - 1, 11, 1, 5);
    ctx.font = `bold ${FONT}`;
    ctx.fillText(name, (left + right) / 2, 9);
    ctx.font = FONT;
  }
}

/** The side histogram: bars for the sums of the part, and lines where the percentiles lie; of means the sum alone. */
function drawSums(ctx, layout, state, what, shades, ink) {
  const isMean = state.map.kind === "mean";
  const sums = isMean ? [] : what === "count" ? state.shown.counts : state.shown.waits;
  const most = Math.max(...sums, 0);
  const height = layout.height / Math.max(sums.length, 1);
  ctx.fillStyle = rgb(shades[Math.round(0.6 * (STEPS - 1))]);
  sums.forEach((sum, row) => {
    if (!sum) return;
    const length = Math.max((sum / most) * (layout.side - 2 - (what === "count" ? MARK_WIDTH : 0)), 1);
    ctx.fillRect(layout.sideLeft, layout.foot - (row + 1) * height + 0.5, length, height - 1);
  });
  ctx.fillStyle = ink.quiet;
  if (!isMean) ctx.fillRect(layout.sideLeft - 1, layout.top, 1, layout.height);
  ctx.textAlign = "right";
  ctx.textBaseline = "alphabetic";
  const words = what === "count" ? three(state.shown.count) : latency(state.shown.waited);
  ctx.fillText(layout.side < SIDE.wide ? words : `${words} in sum`, layout.sideLeft + layout.side, layout.foot + 16);
  if (what === "count" && !isMean) drawPercentiles(ctx, layout, state, ink);
}

function drawPercentiles(ctx, layout, state, ink) {
  const placed = [];
  for (const share of MARKED_SHARES) {
    const found = quantile(state.map, state.shown, share);
    if (!found) continue;
    const row = state.map.rows.findIndex(([low]) => low === found.low);
    const inside = found.high === null ? 0.5 : (found.us - found.low) / (found.high - found.low);
    const y = layout.foot - ((row + inside) * layout.height) / state.map.rows.length;
    ctx.fillStyle = ink.ink;
    ctx.fillRect(layout.sideLeft, Math.round(y), layout.side, 1);
    if (placed.some((other) => Math.abs(other - y) < LABEL_HEIGHT)) continue;
    placed.push(y);
    ctx.lineWidth = 3;
    ctx.strokeStyle = ink.paper;
    ctx.strokeText(`${100 * share} %`, layout.sideLeft + layout.side, y - 3);
    ctx.fillText(`${100 * share} %`, layout.sideLeft + layout.side, y - 3);
    ctx.lineWidth = 1;
  }
}

/** The shares of each row in A, hollow, and in B, filled. */
function drawShares(ctx, layout, state, ink) {
  const parts = [state.inA, state.inB].filter((part) => part && part.count);
  const most = Math.max(...parts.flatMap((part) => part.shares), 0);
  const height = layout.height / Math.max(state.map.rows.length, 1);
  ctx.fillStyle = ctx.strokeStyle = ink.quiet;
  ctx.fillRect(layout.sideLeft - 1, layout.top, 1, layout.height);
  parts.forEach((part, nth) => {
    part.shares.forEach((share, row) => {
      if (!share) return;
      const y = layout.foot - (row + 1) * height + (nth * height) / 2;
      const length = (share / most) * (layout.side - 2);
      if (part === state.inA) ctx.strokeRect(layout.sideLeft + 0.5, y + 0.5, length, height / 2 - 1);
      else {
        ctx.fillStyle = ink.mark;
        ctx.fillRect(layout.sideLeft, y, length, Math.max(height / 2 - 0.5, 1));
      }
    });
  });
  ctx.fillStyle = ink.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "alphabetic";
  const words = layout.side < SIDE.wide ? "A, B" : "A hollow, B filled";
  ctx.fillText(words, layout.sideLeft + layout.side, layout.foot + 16);
}

/** What the colours mean, beside the heading. */
function legend(element, what, largest, shades, scale) {
  const band = document.createElement("i");
  const stops = (list) => list.filter((_, step) => step % 32 === 0 || step === STEPS - 1).map(rgb);
  const less = shades.less ? stops(shades.less).reverse() : [];
  band.style.background = `linear-gradient(to right, ${[...less, ...stops(shades.more)].join(",")})`;
  const most = what === "difference" ? `+${three(100 * largest)} %` : amount(largest, what);
  const least = what === "difference" ? most.replace("+", "\u2212") : "0";
  element.replaceChildren(least, band, `${most}${scale === "linear" ? "" : `, ${{ root: "square root", log: "logarithm" }[scale]}`}`);
}

/** Puts the panel's picture on the page, with the selection and the cursor on top. */
function overlay(panel, state) {
  const { canvas, layout } = panel;
  if (!canvas.width) return; // what is not on the screen has no width
  const ctx = canvas.getContext("2d");
  const density = devicePixelRatio || 1;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(panel.picture, 0, 0);
  ctx.scale(density, density);
  ctx.fillStyle = ctx.strokeStyle = css("--ink");
  if (state.selection) {
    const left = xOf(layout, state, state.selection.from);
    ctx.globalAlpha = 0.2;
    ctx.fillRect(left, layout.top, xOf(layout, state, state.selection.to) - left, layout.height);
    ctx.globalAlpha = 1;
    ctx.strokeRect(left, layout.top, xOf(layout, state, state.selection.to) - left, layout.height);
  }
  if (!state.cursor) return;
  const { column, row } = state.cursor;
  const height = layout.height / Math.max(state.map.rows.length, 1);
  const left = xOf(layout, state, column);
  const y = layout.foot - (row + 1) * height;
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left, layout.top, xOf(layout, state, column + 1) - left, layout.height);
  ctx.strokeRect(layout.left, y, layout.sideLeft + layout.side - layout.left, height);
  ctx.globalAlpha = 1;
  ctx.strokeRect(left, y, Math.max(xOf(layout, state, column + 1) - left, 3), height);
}
