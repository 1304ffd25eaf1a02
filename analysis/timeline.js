// SPDX-License-Identifier: GPL-2.0-or-later
// The timeline of two runs, drawn from the island that analysis/timeline.py writes.
// Times are ns since START. The first half needs no page: tests read it with node.
"use strict";

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

// The columns by name: inflated, and put together from planes of bytes.
async function unpack(island) {
  const text = atob(island.data), packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(inflated).arrayBuffer());
  const columns = {};
  let at = 0;
  for (const [name, kind, length] of island.columns) {
    const column = new KINDS[kind](length), own = new Uint8Array(column.buffer);
    const size = column.BYTES_PER_ELEMENT;
    for (let plane = 0; plane < size; plane++)
      for (let i = plane; i < own.length; i += size) own[i] = bytes[at++];
    columns[name] = column;
  }
  return columns;
}

// How many of the rising times are t or earlier; at least `low` are. Quick where it is not many more.
function upTo(times, t, low = 0) {
  let high = low;
  for (let more = 1; high < times.length && times[high] <= t; more *= 2) {
    low = high + 1;
    high += more;
  }
  high = Math.min(high, times.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Disjoint intervals in the order of time. Each adds an amount (ns busy, kHz x ns, nJ) at a constant
// rate. Sums from the beginning summarize any range, so a pixel costs the same however much it has.
class Lane {
  constructor(t0, t1, amount, more) {
    Object.assign(this, { t0, t1, amount, ...more, length: t0.length });
    this.before = new Float64Array(this.length + 1);
    for (let i = 0; i < this.length; i++) this.before[i + 1] = this.before[i] + amount[i];
  }

  // The place of the last interval that begins at t or before; -1: none does.
  find(t) {
    return upTo(this.t0, t) - 1;
  }

  // The amount until t, of which the interval at i is the last to begin.
  until(t, i = this.find(t)) {
    if (i < 0) return 0;
    return t >= this.t1[i] ? this.before[i + 1] : this.before[i] + this.rate(i) * (t - this.t0[i]);
  }

  rate(i) {
    return this.amount[i] / (this.t1[i] - this.t0[i]);
  }

  // Calls emit(begin, end, mean rate, who) at most once per pixel of `step` ns. Of several intervals
  // in a pixel, it names the one at the middle of what they add.
  pieces(from, to, step, emit) {
    const { t0, t1, who, length } = this, last = Math.ceil(to / step);
    let pixel = Math.floor(from / step), i = this.find(pixel * step);
    while (pixel < last) {
      const begin = pixel * step, end = (pixel + 1) * step;
      const busy = i >= 0 && t1[i] >= end, after = i + 1 < length ? t0[i + 1] : Infinity;
      const idle = (i < 0 || t1[i] <= begin) && after >= end;
      if (busy) pixel = Math.max(pixel + 1, Math.floor(t1[i] / step));
      else if (idle) pixel = Math.max(pixel + 1, Math.floor(after / step));
      else pixel++;
      pixel = Math.min(pixel, last);
      const next = upTo(t0, pixel * step, Math.max(0, i)) - 1;
      if (busy) emit(begin, pixel * step, this.rate(i), who?.[i]);
      else if (!idle) {
        const less = this.until(begin, i), more = this.until(end, next);
        const middle = upTo(this.before, (less + more) / 2, Math.max(0, i)) - 1;
        emit(begin, end, (more - less) / step, who?.[middle]);
      }
      i = next;
    }
  }
}

// A run's lanes: one per CPU, one per cluster's clock, and the power.
function runOf(island, columns, place) {
  const about = island.runs[place], letter = "ab"[place];
  const [gap, ns, what, by, wait, nj, at, lane] = ["gap", "ns", "what", "by", "wait", "nj", "mark",
    "lane"].map((name) => columns[`${letter}_${name}`]);
  const cpus = island.clusters.flatMap((cluster) => cluster.cpus).length;
  let first = 0;
  const lanes = about.counts.map((count, lane) => {
    const t0 = new Float64Array(count), t1 = new Float64Array(count), amount = new Float64Array(count);
    for (let i = 0, t = 0; i < count; i++) {
      t0[i] = t + gap[first + i];
      t = t1[i] = t0[i] + ns[first + i];
      amount[i] = lane < cpus ? ns[first + i] : ns[first + i] * what[first + i];
    }
    first += count;
    const [who, waker, since] = [what, by, wait].map((column) => column.subarray(first - count, first));
    return new Lane(t0, t1, amount, lane < cpus ? { who, waker, since } : {});
  });
  const starts = new Float64Array(nj.length).map((_, step) => step * about.step);
  const ends = starts.map((t) => Math.min(t + about.step, about.ns));
  return { ...about, letter: "AB"[place], cpus: lanes.slice(0, cpus), clocks: lanes.slice(cpus),
    power: new Lane(starts, ends, nj), marks: { at, lane } };
}

// Where and when the thread of the interval at i was woken for it: CPU, time, and the place of the
// interval there (-1: the CPU was idle). Undefined: it was not.
function wakerOf(run, lane, i) {
  if (!lane.waker?.[i]) return undefined;
  const cpu = lane.waker[i] - 1, t = lane.t0[i] - lane.since[i], at = run.cpus[cpu].find(t);
  return { cpu, t, at: at >= 0 && t < run.cpus[cpu].t1[at] ? at : -1 };
}

// Energy in mJ and busy ns by cluster between two moments of a run.
function sums(island, run, from, to) {
  const within = (lane) => lane.until(to) - lane.until(from);
  const sum = (cpus) => cpus.reduce((all, cpu) => all + within(run.cpus[cpu]), 0);
  const busy = island.clusters.map((cluster) => sum(cluster.cpus));
  return { mj: within(run.power) / 1e6, busy };
}

if (typeof document === "undefined") module.exports = { unpack, Lane, runOf, sums, wakerOf };
else view(JSON.parse(document.getElementById("timeline-data").textContent));

async function view(island) {
  const element = (name) => document.getElementById(`timeline-${name}`);
  const canvas = element("view"), told = element("told");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const columns = await unpack(island), runs = [0, 1].map((place) => runOf(island, columns, place));
  const words = new TextDecoder().decode(columns.words).split("\n");
  const whole = Math.max(...runs.map((run) => run.ns));
  // The view, the selected range, the interval that is told of, the difference last jumped to.
  let from = 0, to = whole, chosen = null, cursor = null, mark = -1;
  let wide = 0, gutter = 0, pending = false, writing = 0;

  // Rows from top to bottom. A row's id is what the columns of marks call its lane.
  const AXIS = 18, rows = [];
  let tall = AXIS, peak = 0;
  const add = (height, row) => {
    rows.push({ y: tall, height, ...row });
    tall += height + 1;
  };
  for (const { power } of runs)
    power.pieces(0, whole, whole / 4000, (_begin, _end, rate) => (peak = Math.max(peak, rate)));
  for (const run of runs) {
    add(22, { run, label: `${run.letter}: ${run.name}` });
    island.clusters.forEach(({ name, cpus, max_khz: top }, index) => {
      const clock = run.clocks[index], id = run.cpus.length + index;
      for (const cpu of cpus) add(15, { run, lane: run.cpus[cpu], id: cpu, clock, label: `CPU ${cpu}` });
      add(26, { run, lane: clock, id, clock, top, label: name, unit: `${top / 1000} MHz` });
    });
    add(40, { run, lane: run.power, top: peak, label: "power", unit: `${(1000 * peak).toFixed(0)} mW` });
  }
  const lanes = rows.filter((row) => row.lane);

  // An ink is a colour (as bytes ABGR) and a hatch. Threads of no task are plain grey.
  const COLOURS = [0xffd49f5b, 0xff32a5e6, 0xff8aae3f, 0xffb88ad5, 0xfff0d8a5, 0xff3a79e0, 0xff45cfd8];
  const CLOCK = [0xffa68f7f, 0], POWER = [0xff4d50c0, 0], MARK = [0xff2000b0, 0];
  const GREY = [0xffb4b4b4, 0], IDLE = [0xfff5f4f3, 0], DARK = 0xff404040;
  const inks = island.threads.map((_, i) => (i < island.tasks ? [COLOURS[i % 7], i % 4] : GREY));

  // An image of a canvas, in which fill() fills rectangles, in CSS pixels: thousands per frame.
  let image, pixels, ratio;
  const imageOf = (target, scale) => {
    [image, ratio] = [target.createImageData(target.canvas.width, target.canvas.height), scale];
    pixels = new Uint32Array(image.data.buffer).fill(0xffffffff);
  };
  const fill = (x0, y0, x1, y1, [ink, hatch]) => {
    const left = Math.round(x0 * ratio), right = Math.round(x1 * ratio), bottom = Math.round(y1 * ratio);
    const period = Math.round(8 * ratio), along = hatch === 1 ? 1 : period - 1;
    for (let y = Math.round(y0 * ratio); y < bottom; y++) {
      const line = y * image.width, end = line + right;
      for (let i = line + left; i < end; i++) pixels[i] = ink;
      if (!hatch || right - left < period / 2) continue;
      if (hatch === 2 && (y + 4) % period < ratio) pixels.fill(DARK, line + left, end);
      if (hatch === 2) continue;
      const first = line + left + period - ((left + along * y) % period);
      for (let i = first; i < end; i += period) pixels[i] = DARK;
    }
  };
  for (const [place, thread] of island.threads.slice(0, Math.min(24, island.tasks)).entries()) {
    const swatch = document.createElement("canvas"), target = swatch.getContext("2d");
    [swatch.width, swatch.height] = [24, 12];
    imageOf(target, 1);
    fill(0, 0, 24, 12, inks[place]);
    target.putImageData(image, 0, 0);
    element("legend").appendChild(document.createElement("span")).append(swatch, ` ${thread}`);
  }

  const x = (t) => Math.min(wide, Math.max(gutter, gutter + ((t - from) / (to - from)) * (wide - gutter)));
  const timeAt = (pixel) => from + ((pixel - gutter) / (wide - gutter)) * (to - from);
  const kept = (begin, end) => !island.kept || island.kept.some(([a, b]) => a <= begin && end <= b);

  function draw(width = canvas.clientWidth, scale = devicePixelRatio) {
    [wide, gutter, pending] = [width, width < 600 ? 58 : 84, false];
    [canvas.width, canvas.height] = [Math.round(wide * scale), Math.round(tall * scale)];
    imageOf(context, scale);
    const names = lanes.flatMap(drawLane);
    runs.forEach(drawMarks);
    context.putImageData(image, 0, 0);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const name of names) context.fillText(...name);
    for (const { y, height, label, lane, unit } of rows) {
      const middle = y + height / 2;
      context.fillText(label, 2, unit ? middle - 6 : middle, lane ? gutter - 6 : wide);
      if (unit) context.fillText(unit, 2, middle + 7, gutter - 6);
    }
    drawAxis();
    if (cursor) {
      const [first, last] = extent(cursor);
      context.strokeRect(x(first), cursor.row.y, Math.max(2, x(last) - x(first)), cursor.row.height);
      drawWaker(cursor.row, extent(cursor)[2]);
    }
    context.fillStyle = "rgba(0, 90, 200, .16)";
    if (chosen) context.fillRect(x(chosen[0]), AXIS, x(chosen[1]) - x(chosen[0]), tall - AXIS);
  }

  // Gives the names that have room, and where.
  function drawLane({ lane, y, height, top, clock }) {
    const names = [], ink = clock ? CLOCK : POWER, bottom = y + height;
    fill(gutter, y, wide, bottom, IDLE);
    lane.pieces(from, to, (to - from) / (wide - gutter), (begin, end, rate, who) => {
      const x0 = x(begin), x1 = Math.min(wide, Math.max(x0 + 1, x(end)));
      const high = top ? (height * rate) / top : Math.max(2, height * rate);
      fill(x0, bottom - high, x1, bottom, top ? ink : inks[who]);
      if (!top && x1 - x0 > 45) names.push([island.threads[who], x0 + 3, y + height / 2, x1 - x0 - 6]);
    });
    let past = 0;
    for (const [a, b] of top || !island.kept ? [] : [...island.kept, [whole, whole]]) {
      fill(x(past), bottom - 2, x(a), bottom, GREY);
      past = b;
    }
    return names;
  }

  function drawMarks(run) {
    const { at, lane } = run.marks, last = {};
    const own = new Map(lanes.filter((row) => row.run === run).map((row) => [row.id, row.y]));
    for (let i = upTo(at, from - 1); i < at.length && at[i] <= to; i++) {
      const y = own.get(lane[i]), middle = Math.round(x(at[i]));
      if (y === undefined || (middle < last[lane[i]] + 5 && i !== mark)) continue;
      last[lane[i]] = middle;
      const around = (half, line, end) =>
        fill(Math.max(gutter, middle - half), y + line, Math.min(wide, middle + half), y + end, MARK);
      for (let line = 0; line < 4; line++) around(4 - line, line, line + 1);
      if (i === mark) around(1, 0, 15);
    }
  }

  // An arrow from what woke the thread to its interval.
  function drawWaker({ run, lane, y, height }, i) {
    const waker = wakerOf(run, lane, i);
    if (!waker || lane.t0[i] < from || waker.t > to) return;
    const row = lanes.find((each) => each.run === run && each.id === waker.cpu);
    const x0 = x(waker.t), y0 = row.y + row.height / 2, x1 = x(lane.t0[i]), y1 = y + height / 2;
    const turn = Math.atan2(y1 - y0, x1 - x0);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    for (const side of [-0.4, 0.4]) {
      context.moveTo(x1, y1);
      context.lineTo(x1 - 8 * Math.cos(turn + side), y1 - 8 * Math.sin(turn + side));
    }
    context.stroke();
  }

  function drawAxis() {
    const least = ((to - from) * 90) / (wide - gutter), ten = 10 ** Math.floor(Math.log10(least));
    const step = ten * [1, 2, 5, 10].find((times) => ten * times >= least);
    const digits = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      context.globalAlpha = 0.15;
      context.fillRect(x(t), AXIS - 4, 1, tall);
      context.globalAlpha = 1;
      if (wide - x(t) > 50) context.fillText(`${(t / 1e9).toFixed(digits)} s`, x(t) + 3, AXIS / 2);
    }
  }

  // Begin and end of the interval at a time, and its place; -1: the lane is idle then.
  function extent({ row: { lane, run }, t }) {
    const i = lane.find(t);
    if (i >= 0 && t < lane.t1[i]) return [lane.t0[i], lane.t1[i], i];
    return [i < 0 ? 0 : lane.t1[i], i + 1 < lane.length ? lane.t0[i + 1] : run.ns, -1];
  }

  function point(row, t) {
    cursor = { row, t: Math.min(Math.max(t, 0), row.run.ns - 1) };
    const [begin, end, i] = extent(cursor), at = cursor.t;
    const seconds = (ns) => (ns / 1e9).toFixed(to - from < 5e7 ? 6 : 3);
    const parts = [row.run.letter, row.label];
    const none = kept(at, at) ? "idle" : "not in this page";
    if (!row.top) parts.push(i >= 0 ? island.threads[row.lane.who[i]] : none);
    parts.push(`${seconds(begin)} to ${seconds(end)} s`);
    if (row.clock) parts.push(`${Math.round(row.clock.rate(row.clock.find(at))) / 1000} MHz`);
    parts.push(`${((1e9 * sums(island, row.run, begin, end).mj) / (end - begin)).toFixed(0)} mW`);
    const waker = wakerOf(row.run, row.lane, i);
    if (waker) {
      const { who } = row.run.cpus[waker.cpu], name = waker.at < 0 ? "idle" : island.threads[who[waker.at]];
      parts.push(`woken ${((begin - waker.t) / 1e3).toFixed(0)} us before on CPU ${waker.cpu} (${name})`);
    }
    told.textContent = parts.join(", ");
    redraw();
  }

  function redraw() {
    if (!pending) requestAnimationFrame(() => draw());
    pending = true;
  }

  // Draws anew, and writes view and selection into the address.
  function refresh() {
    redraw();
    clearTimeout(writing);
    const numbers = [from, to, ...(chosen ?? [])].map(Math.round);
    writing = setTimeout(() => history.replaceState(null, "", `#timeline=${numbers.join()}`), 250);
  }

  function show(begin, end) {
    const span = Math.min(whole, Math.max(1000, end - begin));
    from = Math.min(whole - span, Math.max(0, (begin + end - span) / 2));
    to = from + span;
    refresh();
  }

  function zoom(times, at = cursor && cursor.t > from && cursor.t < to ? cursor.t : (from + to) / 2) {
    const span = Math.min(whole, Math.max(1000, (to - from) * times)), share = (at - from) / (to - from);
    show(at - share * span, at + (1 - share) * span);
  }

  const pan = (share) => show(from + share * (to - from), to + share * (to - from));

  // Selects a range, and shows its sums; without a range, ends the selection.
  function select(one, other) {
    const ends = [one, other].sort((a, b) => a - b);
    chosen = one === undefined ? null : [Math.max(0, ends[0]), Math.min(whole, ends[1])];
    refresh();
    element("sums").replaceChildren();
    if (!chosen) return;
    const [begin, end] = chosen, table = element("sums").appendChild(document.createElement("table"));
    const busy = island.clusters.map(({ name }) => `${name} busy (ms)`);
    const lines = [[`${(begin / 1e9).toFixed(6)} to ${(end / 1e9).toFixed(6)} s`, "mJ", "mW", ...busy]];
    const [a, b] = runs.map((run) => {
      const own = sums(island, run, begin, end);
      const busy = own.busy.map((ns) => (kept(begin, end) ? ns / 1e6 : NaN));
      return [own.mj, (1e9 * own.mj) / (end - begin), ...busy];
    });
    const shown = (value) => (Number.isNaN(value) ? "not in this page" : value.toFixed(3));
    for (const [name, values] of [["A", a], ["B", b], ["B - A", b.map((value, i) => value - a[i])]])
      lines.push([name, ...values.map(shown)]);
    for (const line of lines) {
      const row = table.insertRow();
      for (const cell of line) row.insertCell().textContent = cell;
      row.cells[0].className = "left";
    }
  }

  function jump(place) {
    if (place < 0 || place >= columns.a_mark.length) return;
    const times = runs.map((run) => run.marks.at[place]), apart = Math.abs(times[0] - times[1]);
    const middle = (times[0] + times[1]) / 2, half = Math.max(Math.min(to - from, 2e7), 3 * apart) / 2;
    show(middle - half, middle + half);
    const row = lanes.find(({ run, id }) => run.marks.lane[place] === id);
    if (row) point(row, row.run.marks.at[place]);
    mark = place;
    told.textContent = `difference ${place + 1} of ${words.length}: ${words[place]}`;
  }

  // The next difference, or the one before; the view's first or last, where it has moved away.
  function neighbour(forward) {
    const times = runs[0].marks.at;
    if (times[mark] >= from && times[mark] <= to) return mark + (forward ? 1 : -1);
    return forward ? upTo(times, from - 1) : upTo(times, to) - 1;
  }

  // To the interval before or after, or to the same time in the row above or below.
  function step(across, down, selects) {
    const { row, t } = cursor ?? { row: lanes[0], t: from }, [begin, end] = extent({ row, t });
    const place = Math.min(lanes.length - 1, Math.max(0, lanes.indexOf(row) + down));
    point(lanes[place], across > 0 ? end : across < 0 ? begin - 1 : t);
    const [first, last] = extent(cursor);
    if (selects) select(Math.min(first, ...(chosen ?? [begin])), Math.max(last, ...(chosen ?? [end])));
    if (first < from || last > to) show(cursor.t - (to - from) / 2, cursor.t + (to - from) / 2);
  }

  const KEYS = {
    w: () => zoom(0.5), s: () => zoom(2), a: () => pan(-0.2), d: () => pan(0.2),
    n: () => jump(neighbour(true)), p: () => jump(neighbour(false)),
    Home: () => show(0, whole), Escape: () => select(),
    ArrowLeft: (shift) => step(-1, 0, shift), ArrowRight: (shift) => step(1, 0, shift),
    ArrowUp: (shift) => step(0, -1, shift), ArrowDown: (shift) => step(0, 1, shift),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](event.shiftKey);
  });
  document.getElementById("timeline").addEventListener("click", ({ target: { dataset } }) => {
    if (dataset.key) KEYS[dataset.key]();
    if (!dataset.at) return;
    const [a, b] = runs.map((run) => run.marks.at);
    jump(a.findIndex((t, place) => Math.min(t, b[place]) === Number(dataset.at)));
    canvas.focus();
  });
  // The wheel scrolls the page until the timeline has the focus.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / (wide - gutter));
    else zoom(2 ** (event.deltaY / 300), timeAt(event.offsetX));
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const row = lanes.find(({ y, height }) => offsetY >= y && offsetY <= y + height);
    if (held !== null && Math.abs(offsetX - held) > 3) select(timeAt(held), timeAt(offsetX));
    else if (row && offsetX > gutter) point(row, timeAt(offsetX));
  });
  for (const ends of ["pointerup", "pointercancel"]) canvas.addEventListener(ends, () => (held = null));

  function fromAddress() {
    const numbers = /^#timeline=([\d,]+)$/.exec(location.hash)?.[1] ?? "";
    const [begin, end, one, other] = numbers.split(",").map(Number);
    if (!(end > begin)) return;
    show(begin, end);
    if (other > one) select(one, other);
    canvas.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => draw(1000, 3));
  addEventListener("afterprint", () => draw());
  new ResizeObserver(() => !pending && canvas.clientWidth !== wide && draw()).observe(canvas);
  draw();
  told.textContent = island.kept
    ? "This page has threads only around the largest differences, which keeps it small."
    : `${words[0] ? words.length : "No"} differing decisions. Focus the timeline for its keys.`;
  fromAddress();
}
