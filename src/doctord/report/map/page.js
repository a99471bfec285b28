"use strict";
// What the reader does with the page, and what the page says: choosing, pointing, zooming, comparing.

const DATA = JSON.parse(document.getElementById("data").textContent);
const PANELS = ["count", "time", "difference"].map((what) => {
  const figure = document.getElementById(`${what}-panel`);
  return { what, figure, canvas: figure.querySelector("canvas"), legend: figure.querySelector(".legend-of") };
});
const LONGEST_LIST = 100;

// What is looked at: columns `from` to `to` (outside), those zoomed out of (`earlier`), a cell under the cursor, a
// selection, and the intervals A and B; and from these the sums that the panels and tables show.
const state = { map: null, scale: DATA.scale, mode: "zoom" };

function byId(id) {
  return document.getElementById(id);
}

function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

function choose(number) {
  const map = DATA.maps[number];
  Object.assign(state, { map, from: 0, to: map.ends.length, earlier: [], cursor: null, selection: null, a: null, b: null });
  state.totals = map.counts.map((counts) => (counts ? total(counts) : 0));
  if (DATA.compareAt !== null) {
    const after = map.ends.findIndex((end) => end > DATA.compareAt);
    if (after > 0) Object.assign(state, { a: { from: 0, to: after }, b: { from: after, to: map.ends.length } });
  }
  byId("subject").textContent = document.title = map.subject;
  const only = map.kind === "mean" ? "mean only: the source knows no distribution" : "";
  byId("about").textContent = [map.place, `${partInWords(map, state)} UTC`, only].filter(Boolean).join(", ");
  byId("reading").replaceChildren(...map.reading.map((sentence) => element("li", sentence)));
  const known = { exact: "is measured", estimated: "is estimated from the buckets: 0.75 of the upper edge of a wide one", "at least": "is the least it can be: some waits took longer than the last edge" };
  byId("sureness").textContent = map.kind === "mean" ? "" : `The time waited ${known[map.timeIs]}.`;
  changed();
}

/** Works out what is shown and draws all of it. */
function changed() {
  const { map } = state;
  const summedWithShares = (part) => {
    if (!part) return null;
    const sum = summed(map, part);
    return { ...sum, shares: sum.counts.map((count) => (sum.count ? count / sum.count : 0)) };
  };
  state.shown = summedWithShares(state);
  state.inA = summedWithShares(state.a);
  state.inB = summedWithShares(state.b);
  byId("rows").hidden = map.kind === "mean";
  PANELS[2].figure.hidden = !(state.inA && state.inA.count && map.kind === "histogram");
  byId("back").disabled = !state.earlier.length;
  byId("all").disabled = state.from === 0 && state.to === map.ends.length;
  byId("clear").disabled = !state.a && !state.b;
  for (const panel of PANELS) if (!panel.figure.hidden) render(panel, state);
  pointed();
  compare();
  tabulate();
  listMarkers();
}

/** Shows the cursor and the selection, and says what is there. */
function pointed() {
  for (const panel of PANELS) if (!panel.figure.hidden) overlay(panel, state);
  byId("readout").textContent = [selectionInWords(), cursorInWords()].filter(Boolean).join(" ") || "Point at a cell.";
}

function selectionInWords() {
  const { map, selection } = state;
  if (!selection) return "";
  const sum = summed(map, selection);
  return `Selected ${partInWords(map, selection)}: ${three(sum.count)} waits.`;
}

function cursorInWords() {
  const { map, cursor } = state;
  if (!cursor || !map.rows.length || cursor.column >= state.to) return "";
  const { column, row } = cursor;
  const when = momentsOf(startOf(map, column), map.ends[column]);
  const counts = map.counts[column];
  const happened = map.markers
    .filter((marker) => columnAt(map, marker.at) === column)
    .map((marker) => ` ${marker.kind}: ${marker.text}.`)
    .join("");
  if (!counts) return `${when}: not measured.${happened}`;
  const [waits, waited] = [state.totals[column], total(map.waits[column])];
  if (!waits) return `${when}: no waits.${happened}`;
  if (map.kind === "mean") return `${when}: ${three(waits)} waits, mean ${latency(map.means[column])}.${happened}`;
  const where = rangeOf(...map.rows[row]);
  const share = `${three((100 * counts[row]) / waits)} % of ${three(waits)} in the column`;
  const time = `${latency(map.waits[column][row])} waited, of ${latency(waited)}`;
  const cell = counts[row] ? `${three(counts[row])} waits, ${share}; ${time}` : `none of ${three(waits)} waits`;
  return `${when}, ${where}: ${cell}.${happened}`;
}

function compare() {
  const both = state.inA && state.inB;
  byId("compared").hidden = !both;
  const said = both ? differenceInWords(state.map, state.inA, state.inB) : [];
  byId("difference").replaceChildren(...said.map((sentence) => element("li", sentence)));
}

/** The parts that the tables have a column for. */
function partsShown() {
  const named = [["Shown", state, state.shown], ["A", state.a, state.inA], ["B", state.b, state.inB]];
  return named.filter(([, part]) => part);
}

function tabulate() {
  const { map } = state;
  const parts = partsShown();
  const line = (name, told) => [name, ...parts.map(([, part, sum]) => told(sum, part))];
  const rows = [
    line("From, to (UTC)", (sum, part) => partInWords(map, part)),
    line("Measured", (sum) => `${three(sum.seconds)} s`),
    line("Waits", (sum) => (sum.seconds ? three(sum.count) : "\u2013")),
    line("Waits per second", (sum) => (sum.seconds ? amount(sum.count / sum.seconds, "count") : "\u2013")),
    line("Time waited", (sum) => (sum.seconds ? latency(sum.waited) : "\u2013")),
    line("Mean", (sum) => (sum.count ? latency(sum.waited / sum.count) : "\u2013")),
  ];
  if (map.kind === "histogram") {
    rows.push(...SHARES.map((share) => line(`${three(100 * share)} % took at most`, (sum) => bounded(sum, share))));
  }
  fill(byId("figures"), ["", ...parts.map(([name]) => name)], rows);
  if (byId("rows").open) tabulateRows();
}

/** A percentile and the edges between which it lies. */
function bounded(sum, share) {
  const found = quantile(state.map, sum, share);
  if (!found) return "\u2013";
  if (found.high === null) return `over ${latency(found.low)}`;
  return `${latency(found.us)} (${latency(found.low)} to ${latency(found.high)})`;
}

function tabulateRows() {
  const parts = partsShown();
  const names = parts.flatMap(([name]) => [`${name}: waits`, "%", "time"]);
  const rows = state.map.rows.map((edges, row) => [
    rangeOf(...edges),
    ...parts.flatMap(([, , sum]) => [three(sum.counts[row]), three(100 * sum.shares[row]), latency(sum.waits[row])]),
  ]);
  fill(byId("rows").querySelector("table"), ["Latency", ...names], rows.reverse());
}

function fill(table, names, rows) {
  const heading = (name, scope) => Object.assign(element("th", name), { scope });
  const head = element("thead", element("tr", ...names.map((name) => heading(name, "col"))));
  const lines = rows.map(([name, ...cells]) => element("tr", heading(name, "row"), ...cells.map((cell) => element("td", cell))));
  table.replaceChildren(head, element("tbody", ...lines));
}

function listMarkers() {
  const inside = state.map.markers.filter((marker) => {
    const column = columnAt(state.map, marker.at);
    return column >= state.from && column < state.to;
  });
  byId("happened").hidden = !inside.length;
  const items = inside.slice(0, LONGEST_LIST).map((marker) =>
    element("li", `${clock(marker.at, "day")} ${clock(marker.at, "second")} ${marker.kind}: ${marker.text}`));
  if (inside.length > LONGEST_LIST) items.push(element("li", `And ${inside.length - LONGEST_LIST} more.`));
  byId("markers").replaceChildren(...items);
}

// What changes what is looked at.

function zoom(part) {
  if (part.to - part.from < 1 || (part.from === state.from && part.to === state.to)) return;
  state.earlier.push({ from: state.from, to: state.to });
  Object.assign(state, { from: part.from, to: part.to, selection: null, cursor: null });
  changed();
}

function back() {
  if (!state.earlier.length) return;
  Object.assign(state, state.earlier.pop(), { selection: null, cursor: null });
  changed();
}

function nameInterval(interval) {
  state[interval] = state.selection || { from: state.from, to: state.to };
  state.selection = null;
  changed();
}

/** The selection that a drag or Shift with arrows made, put to use. */
function selected() {
  if (!state.selection) return;
  if (state.mode === "zoom") zoom(state.selection);
  else nameInterval(state.mode);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function between(first, second) {
  return { from: Math.min(first, second), to: Math.max(first, second) + 1 };
}

/** The cell under a pointer; beside the cells the nearest one. */
function cellAt(panel, event) {
  const { left, top, width, height } = panel.layout;
  const box = panel.canvas.getBoundingClientRect();
  const column = state.from + Math.floor(((event.clientX - box.left - left) / width) * (state.to - state.from));
  const row = state.map.rows.length - 1 - Math.floor(((event.clientY - box.top - top) / height) * state.map.rows.length);
  return { column: clamp(column, state.from, state.to - 1), row: clamp(row, 0, state.map.rows.length - 1) };
}

function listen(panel) {
  const { canvas } = panel;
  let begun = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || state.to <= state.from) return;
    begun = { x: event.clientX, column: cellAt(panel, event).column };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (state.to <= state.from) return;
    state.cursor = cellAt(panel, event);
    if (begun && Math.abs(event.clientX - begun.x) > 3) state.selection = between(begun.column, state.cursor.column);
    pointed();
  });
  canvas.addEventListener("pointerup", () => {
    if (begun && state.selection) selected();
    begun = null;
  });
  canvas.addEventListener("pointercancel", () => {
    begun = state.selection = null;
    pointed();
  });
  canvas.addEventListener("pointerleave", () => {
    if (begun) return;
    state.cursor = null;
    pointed();
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(event.key, event.shiftKey)) event.preventDefault();
  });
}

const STEPS_OF = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [-20, 0], PageDown: [20, 0] };

/** Does what a key says; whether it says anything. */
function pressed(key, isShift) {
  if (STEPS_OF[key]) return move(...STEPS_OF[key], isShift);
  if (key === "Home" || key === "End") return move((key === "End" ? 1 : -1) * state.map.ends.length, 0, isShift);
  if (key === "Enter" && state.selection) zoom(state.selection);
  else if (key === "Backspace") back();
  else if (key === "Escape") {
    state.selection = state.cursor = null;
    pointed();
  } else if (key.toLowerCase() === "a" || key.toLowerCase() === "b") nameInterval(key.toLowerCase());
  else return false;
  return true;
}

function move(columns, rows, isSelecting) {
  if (state.to <= state.from) return false;
  const before = state.cursor || { column: columns < 0 ? state.to - 1 : state.from, row: state.map.rows.length >> 1 };
  const column = clamp(before.column + (state.cursor ? columns : 0), state.from, state.to - 1);
  state.cursor = { column, row: clamp(before.row + rows, 0, state.map.rows.length - 1) };
  if (isSelecting && columns) {
    if (!state.selection) state.anchor = before.column;
    state.selection = between(state.anchor, column);
  }
  pointed();
  return true;
}

function begin() {
  PANELS.forEach(listen);
  byId("scale").value = state.scale;
  byId("map").addEventListener("change", (event) => choose(Number(event.target.value)));
  byId("scale").addEventListener("change", (event) => {
    state.scale = event.target.value;
    changed();
  });
  byId("mode").addEventListener("change", (event) => {
    state.mode = event.target.value;
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("back").addEventListener("click", back);
  byId("all").addEventListener("click", () => zoom({ from: 0, to: state.map.ends.length }));
  byId("clear").addEventListener("click", () => {
    state.a = state.b = null;
    changed();
  });
  byId("rows").addEventListener("toggle", tabulate);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  choose(0);
  let width = byId("panels").clientWidth;
  new ResizeObserver(() => {
    // Drawing changes the height: only another width is a reason to draw again.
    if (width === byId("panels").clientWidth) return;
    width = byId("panels").clientWidth;
    changed();
  }).observe(byId("panels"));
}

if (DATA.maps.length) begin();
else byId("subject").textContent = "No latencies";
