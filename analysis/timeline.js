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

// How many of the (rising) times are t or earlier.
function upTo(times, t) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Intervals in the order of time. Each adds an amount (ns busy, kHz x ns, nJ) at a constant rate.
class Lane {
  constructor(t0, t1, amount, who) {
    Object.assign(this, { t0, t1, amount, who, length: t0.length });
    this.before = new Float64Array(this.length + 1);
    for (let i = 0; i < this.length; i++) this.before[i + 1] = this.before[i] + amount[i];
    this.levels = this.length > 256 ? this.pyramid() : [];
  }

  // The place of the last interval that begins at t or before; -1: none does.
  find(t) {
    return upTo(this.t0, t) - 1;
  }

  // The amount until t.
  until(t) {
    const i = this.find(t);
    if (i < 0) return 0;
    const part = Math.min(1, (t - this.t0[i]) / (this.t1[i] - this.t0[i]));
    return this.before[i] + (part === 1 ? this.amount[i] : this.amount[i] * part);
  }

  sum(from, to) {
    return this.until(to) - this.until(from);
  }

  // Summaries of bins of equal width, the width doubling from level to level: the amount, and who
  // has the longest part of one interval. The first level has about eight intervals per bin.
  pyramid() {
    const { t0, t1, who, length } = this;
    let bins = 2 ** Math.ceil(Math.log2(length / 8)), width = t1[length - 1] / bins;
    let amount = new Float64Array(bins), longest = new Float64Array(bins), whose = new Uint16Array(bins);
    for (let i = 0; i < length; i++) {
      const begin = t0[i], end = t1[i], rate = this.amount[i] / (end - begin);
      for (let bin = Math.floor(begin / width); bin < bins; bin++) {
        const part = Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width);
        if (part <= 0) break;
        amount[bin] += part * rate;
        if (part <= longest[bin]) continue;
        longest[bin] = part;
        if (who) whose[bin] = who[i];
      }
    }
    const levels = [{ width, amount, whose }];
    while (bins > 1) {
      const below = { amount, longest, whose };
      [bins, width] = [bins / 2, 2 * width];
      [amount, longest, whose] = [new Float64Array(bins), new Float64Array(bins), new Uint16Array(bins)];
      for (let bin = 0, left = 0; bin < bins; bin++, left += 2) {
        const more = below.longest[left + 1] > below.longest[left] ? left + 1 : left;
        amount[bin] = below.amount[left] + below.amount[left + 1];
        longest[bin] = below.longest[more];
        whose[bin] = below.whose[more];
      }
      levels.push({ width, amount, whose });
    }
    return levels;
  }

  // Calls emit(begin, end, mean rate, who), at most two times per pixel of `step` ns.
  pieces(from, to, step, emit) {
    const level = this.levels.length && this.levels[0].width <= step
      && this.levels.find((each) => each.width >= step);
    if (level) {
      const last = Math.min(level.amount.length, Math.ceil(to / level.width));
      for (let bin = Math.max(0, Math.floor(from / level.width)); bin < last; bin++) {
        const begin = bin * level.width;
        if (level.amount[bin] > 0) emit(begin, begin + level.width, level.amount[bin] / level.width, level.whose[bin]);
      }
      return;
    }
    let pixel = -1, sum = 0, longest = 0, who = 0;
    const flush = () => {
      if (sum > 0) emit(pixel, pixel + step, sum / step, who);
      sum = longest = 0;
    };
    for (let i = Math.max(0, this.find(from)); i < this.length && this.t0[i] < to; i++) {
      const long = this.t1[i] - this.t0[i], own = this.who ? this.who[i] : 0;
      if (long >= step) {
        flush();
        if (this.t1[i] > from) emit(this.t0[i], this.t1[i], this.amount[i] / long, own);
        continue;
      }
      const begins = Math.floor(this.t0[i] / step) * step;
      if (begins !== pixel) flush();
      pixel = begins;
      sum += this.amount[i];
      if (long > longest) [longest, who] = [long, own];
    }
    flush();
  }
}

// A run's lanes: one per CPU, one per cluster's clock, and the power.
function runOf(island, columns, place) {
  const about = island.runs[place], letter = "ab"[place];
  const [gap, ns, thread, khz, nj, at, lane] = ["gap", "ns", "thread", "khz", "nj", "mark", "lane"].map(
    (name) => columns[`${letter}_${name}`]);
  const busy = thread.length, cpus = island.clusters.flatMap((cluster) => cluster.cpus).length;
  let first = 0;
  const lanes = about.counts.map((count, lane) => {
    const t0 = new Float64Array(count), t1 = new Float64Array(count), amount = new Float64Array(count);
    for (let i = 0, t = 0; i < count; i++) {
      t0[i] = t + gap[first + i];
      t = t1[i] = t0[i] + ns[first + i];
      amount[i] = lane < cpus ? ns[first + i] : ns[first + i] * khz[first + i - busy];
    }
    first += count;
    return new Lane(t0, t1, amount, lane < cpus ? thread.subarray(first - count, first) : null);
  });
  const starts = new Float64Array(nj.length).map((_, step) => step * about.step);
  const ends = starts.map((t) => Math.min(t + about.step, about.ns));
  return { ...about, letter: "AB"[place], cpus: lanes.slice(0, cpus), clocks: lanes.slice(cpus),
    power: new Lane(starts, ends, nj, null), marks: { at, lane } };
}

// Energy in mJ and busy ns by cluster between two moments of a run.
function sums(island, run, from, to) {
  const busy = island.clusters.map((cluster) => cluster.cpus.reduce((sum, cpu) => sum + run.cpus[cpu].sum(from, to), 0));
  return { mj: run.power.sum(from, to) / 1e6, busy };
}

if (typeof document === "undefined") module.exports = { unpack, Lane, runOf, sums };
else view(JSON.parse(document.getElementById("timeline-data").textContent));

async function view(island) {
  const element = (name) => document.getElementById(`timeline-${name}`);
  const canvas = element("view"), told = element("told"), context = canvas.getContext("2d");
  if (typeof DecompressionStream === "undefined") {
    told.textContent = "This browser cannot open the timeline: it has no DecompressionStream.";
    return;
  }
  const columns = await unpack(island);
  const runs = [0, 1].map((place) => runOf(island, columns, place));
  const words = new TextDecoder().decode(columns.words).split("\n");
  const whole = Math.max(...runs.map((run) => run.ns));
  // The view, the selected range, the interval that is told of, the difference last jumped to.
  let from = 0, to = whole, chosen = null, cursor = null, mark = -1;
  let wide = 0, gutter = 0, pending = false, writing = 0;

  // Rows from top to bottom. A row's id is what the columns of marks call its lane.
  const AXIS = 18, rows = [];
  let tall = AXIS;
  const add = (height, row) => {
    rows.push({ y: tall, height, ...row });
    tall += height + 1;
  };
  let peak = 0;
  for (const { power } of runs) power.pieces(0, whole, whole / 4000, (_begin, _end, rate) => (peak = Math.max(peak, rate)));
  for (const run of runs) {
    add(22, { run, label: `${run.letter}: ${run.name}` });
    island.clusters.forEach((cluster, index) => {
      const clock = run.clocks[index];
      for (const cpu of cluster.cpus) add(15, { run, lane: run.cpus[cpu], id: cpu, clock, label: `CPU ${cpu}` });
      const id = run.cpus.length + index, top = cluster.max_khz;
      add(26, { run, lane: clock, id, clock, top, label: cluster.name, unit: `${top / 1000} MHz` });
    });
    add(40, { run, lane: run.power, top: peak, label: "power", unit: `${(1000 * peak).toFixed(0)} mW` });
  }
  const lanes = rows.filter((row) => row.lane);

  // An ink is a colour (as bytes ABGR) and a hatch. Threads of no task are plain grey.
  const COLOURS = [0xffd49f5b, 0xff32a5e6, 0xff8aae3f, 0xffb88ad5, 0xfff0d8a5, 0xff3a79e0, 0xff45cfd8];
  const inks = island.threads.map((_, i) => (i < island.tasks ? [COLOURS[i % 7], i % 4] : [0xffb4b4b4, 0]));
  const CLOCK = [0xffa68f7f, 0], POWER = [0xff4d50c0, 0], IDLE = [0xfff5f4f3, 0], MARK = [0xff2000b0, 0];

  // Fills a rectangle of an image, in CSS pixels; quicker than thousands of fillRect.
  function paint(image, scale, x0, y0, x1, y1, [ink, hatch]) {
    const { pixels, width } = image, period = Math.round(8 * scale);
    const left = Math.round(x0 * scale), right = Math.round(x1 * scale), bottom = Math.round(y1 * scale);
    for (let y = Math.max(0, Math.round(y0 * scale)); y < bottom; y++) {
      pixels.fill(ink, y * width + left, y * width + right);
      if (hatch === 0 || right - left < period / 2) continue;
      for (let x = left; x < right; x++) {
        const along = hatch === 1 ? x + y : hatch === 2 ? y + 4 : x + 7 * y;
        if (along % period < scale) pixels[y * width + x] = 0xff404040;
      }
    }
  }
  const imageOf = (target) => {
    const data = target.createImageData(target.canvas.width, target.canvas.height);
    return { data, pixels: new Uint32Array(data.data.buffer), width: data.width };
  };
  island.threads.slice(0, Math.min(24, island.tasks)).forEach((thread, place) => {
    const swatch = document.createElement("canvas"), target = swatch.getContext("2d");
    [swatch.width, swatch.height] = [24, 12];
    const image = imageOf(target);
    paint(image, 1, 0, 0, 24, 12, inks[place]);
    target.putImageData(image.data, 0, 0);
    element("legend").appendChild(document.createElement("span")).append(swatch, ` ${thread}`);
  });

  const x = (t) => gutter + ((t - from) / (to - from)) * (wide - gutter);
  const timeAt = (pixel) => from + ((pixel - gutter) / (wide - gutter)) * (to - from);
  const kept = (begin, end) => !island.kept || island.kept.some(([a, b]) => a <= begin && end <= b);

  function draw(width = canvas.clientWidth, scale = window.devicePixelRatio) {
    [wide, gutter, pending] = [width, width < 600 ? 58 : 84, false];
    [canvas.width, canvas.height] = [Math.round(wide * scale), Math.round(tall * scale)];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const image = imageOf(context), fill = (...where) => paint(image, scale, ...where);
    image.pixels.fill(0xffffffff);
    const names = lanes.flatMap((row) => drawLane(row, fill));
    for (const run of runs) drawMarks(run, fill);
    context.putImageData(image.data, 0, 0);
    for (const [name, ...where] of names) context.fillText(name, ...where);
    drawAxis();
    if (chosen) {
      context.fillStyle = "rgba(0, 90, 200, .16)";
      context.fillRect(x(chosen[0]), AXIS, x(chosen[1]) - x(chosen[0]), tall - AXIS);
    }
    if (cursor) {
      const [begin, end] = extent(cursor), left = Math.max(gutter, x(begin));
      context.strokeStyle = "#000";
      context.strokeRect(left, cursor.row.y, Math.max(2, Math.min(wide, x(end)) - left), cursor.row.height);
    }
    context.fillStyle = "#1a1a1a";
    for (const { y, height, label, lane, unit } of rows) {
      const middle = y + height / 2;
      context.fillText(label, 2, unit ? middle - 6 : middle, lane ? gutter - 6 : wide);
      if (unit) context.fillText(unit, 2, middle + 7, gutter - 6);
    }
  }

  // Gives the names that have room, and where.
  function drawLane({ lane, y, height, top, run, clock }, fill) {
    const names = [], ink = clock ? CLOCK : POWER, bottom = y + height;
    fill(gutter, y, wide, bottom, IDLE);
    lane.pieces(from, to, (to - from) / (wide - gutter), (begin, end, rate, who) => {
      const high = top ? (height * rate) / top : Math.max(2, height * rate);
      const x0 = Math.max(gutter, x(begin)), x1 = Math.min(wide, Math.max(x0 + 1, x(end)));
      fill(x0, bottom - high, x1, bottom, top ? ink : inks[who]);
      if (!top && x1 - x0 > 45) names.push([island.threads[who], x0 + 3, y + height / 2, x1 - x0 - 6]);
    });
    let begin = from;
    for (const [a, b] of top || !island.kept ? [] : [...island.kept, [to, to]]) {
      if (a > begin) fill(x(begin), bottom - 2, x(Math.min(a, to)), bottom, inks.at(-1));
      begin = Math.max(begin, b);
    }
    return names;
  }

  function drawAxis() {
    const least = ((to - from) * 90) / (wide - gutter), ten = 10 ** Math.floor(Math.log10(least));
    const step = ten * [1, 2, 5, 10].find((times) => ten * times >= least);
    const digits = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      context.fillStyle = "rgba(0, 0, 0, .12)";
      context.fillRect(x(t), AXIS - 4, 1, tall);
      context.fillStyle = "#1a1a1a";
      if (wide - x(t) > 50) context.fillText(`${(t / 1e9).toFixed(digits)} s`, x(t) + 3, AXIS / 2);
    }
  }

  function drawMarks(run, fill) {
    const { at, lane } = run.marks, last = {}, own = new Map(lanes.filter((row) => row.run === run).map((row) => [row.id, row]));
    for (let i = upTo(at, from - 1); i < at.length && at[i] <= to; i++) {
      const row = own.get(lane[i]), middle = Math.round(x(at[i]));
      if (!row || (middle < last[lane[i]] + 5 && i !== mark)) continue;
      last[lane[i]] = middle;
      for (let line = 0; line < 4; line++) fill(Math.max(gutter, middle - 4 + line), row.y + line, Math.min(wide, middle + 4 - line), row.y + line + 1, MARK);
      if (i === mark) fill(Math.max(gutter, middle - 1), row.y, Math.min(wide, middle + 1), row.y + row.height, MARK);
    }
  }

  // Begin and end of the interval at a time, and its place; -1: the lane is idle then.
  function extent({ row: { lane, run }, t }) {
    const i = lane.find(t);
    if (i >= 0 && t < lane.t1[i]) return [lane.t0[i], lane.t1[i], i];
    return [i < 0 ? 0 : lane.t1[i], i + 1 < lane.length ? lane.t0[i + 1] : run.ns, -1];
  }

  function tell() {
    const { row, t } = cursor, [begin, end, i] = extent(cursor);
    const digits = to - from < 5e7 ? 6 : 3, seconds = (ns) => (ns / 1e9).toFixed(digits);
    const parts = [row.run.letter, row.label];
    if (!row.top) parts.push(i >= 0 ? island.threads[row.lane.who[i]] : kept(t, t) ? "idle" : "not in this page");
    parts.push(`${seconds(begin)} to ${seconds(end)} s`);
    if (row.clock) parts.push(`${row.clock.sum(t, t + 1) / 1000} MHz`);
    parts.push(`${((1000 * row.run.power.sum(begin, end)) / (end - begin)).toFixed(0)} mW`);
    told.textContent = parts.join(", ");
  }

  function showSums() {
    element("sums").replaceChildren();
    if (!chosen) return;
    const table = element("sums").appendChild(document.createElement("table"));
    const line = (cells) => {
      const row = table.insertRow();
      for (const cell of cells) row.insertCell().textContent = cell;
      row.cells[0].className = "left";
    };
    const [begin, end] = chosen, ms = (end - begin) / 1e6;
    line([`${(begin / 1e9).toFixed(6)} to ${(end / 1e9).toFixed(6)} s`, "mJ", "mW", ...island.clusters.map(({ name }) => `${name} busy (ms)`)]);
    const values = runs.map((run) => {
      const { mj, busy } = sums(island, run, begin, end);
      return [mj, (1000 * mj) / ms, ...busy.map((ns) => (kept(begin, end) ? ns / 1e6 : NaN))];
    });
    values.push(values[0].map((value, place) => values[1][place] - value));
    const shown = (value) => (Number.isNaN(value) ? "not in this page" : value.toFixed(3));
    ["A", "B", "B - A"].forEach((name, place) => line([name, ...values[place].map(shown)]));
  }

  function refresh() {
    if (!pending) requestAnimationFrame(() => draw());
    pending = true;
    clearTimeout(writing);
    writing = setTimeout(() => {
      const numbers = [from, to, ...(chosen ?? [])].map(Math.round);
      history.replaceState(null, "", `#timeline=${numbers.join()}`);
    }, 250);
  }

  function show(begin, end) {
    const span = Math.min(whole, Math.max(1000, end - begin)), middle = (begin + end) / 2;
    from = Math.min(whole - span, Math.max(0, middle - span / 2));
    to = from + span;
    refresh();
  }

  function zoom(times, at = cursor && cursor.t > from && cursor.t < to ? cursor.t : (from + to) / 2) {
    const span = Math.min(whole, Math.max(1000, (to - from) * times)), share = (at - from) / (to - from);
    show(at - share * span, at + (1 - share) * span);
  }

  function select(begin, end) {
    chosen = begin === null ? null : [Math.max(0, Math.min(begin, end)), Math.min(whole, Math.max(begin, end))];
    showSums();
    refresh();
  }

  function point(row, t) {
    cursor = { row, t: Math.min(Math.max(t, 0), row.run.ns - 1) };
    tell();
    refresh();
  }

  function jump(place) {
    if (place < 0 || place >= columns.a_mark.length) return;
    mark = place;
    const times = runs.map((run) => run.marks.at[place]), span = Math.min(to - from, 2e7);
    const middle = (times[0] + times[1]) / 2, half = Math.max(span, 3 * Math.abs(times[0] - times[1])) / 2;
    show(middle - half, middle + half);
    told.textContent = `difference ${place + 1} of ${words.length}: ${words[place]}`;
  }

  // The next difference, or the one before; the view's first or last, where it has moved away.
  function neighbour(forward) {
    const times = runs[0].marks.at;
    if (mark >= 0 && times[mark] >= from && times[mark] <= to) return mark + (forward ? 1 : -1);
    return forward ? upTo(times, from - 1) : upTo(times, to) - 1;
  }

  function step(event, across, down) {
    if (!cursor) return point(lanes[0], from);
    const [begin, end] = extent(cursor);
    if (down) point(lanes[Math.min(lanes.length - 1, Math.max(0, lanes.indexOf(cursor.row) + down))], cursor.t);
    else point(cursor.row, across > 0 ? end : begin - 1);
    const own = extent(cursor);
    if (event.shiftKey) select(Math.min(own[0], ...(chosen ?? [begin])), Math.max(own[1], ...(chosen ?? [end])));
    if (own[0] < from || own[1] > to) show(cursor.t - (to - from) / 2, cursor.t + (to - from) / 2);
  }

  const KEYS = {
    w: () => zoom(0.5),
    s: () => zoom(2),
    a: () => show(from - (to - from) / 5, to - (to - from) / 5),
    d: () => show(from + (to - from) / 5, to + (to - from) / 5),
    n: () => jump(neighbour(true)),
    p: () => jump(neighbour(false)),
    Home: () => show(0, whole),
    Escape: () => select(null),
    ArrowLeft: (event) => step(event, -1, 0),
    ArrowRight: (event) => step(event, 1, 0),
    ArrowUp: (event) => step(event, 0, -1),
    ArrowDown: (event) => step(event, 0, 1),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](event);
  });
  document.getElementById("timeline").addEventListener("click", ({ target: { dataset } }) => {
    if (dataset.key) KEYS[dataset.key]();
    if (dataset.at === undefined) return;
    jump(runs[0].marks.at.findIndex((t, place) => Math.min(t, runs[1].marks.at[place]) === Number(dataset.at)));
    canvas.focus();
  });
  // The page scrolls until the timeline has the focus.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    const far = (event.deltaX / (wide - gutter)) * (to - from);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) show(from + far, to + far);
    else zoom(2 ** (event.deltaY / 300), timeAt(event.offsetX));
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const row = lanes.find(({ y, height }) => event.offsetY >= y && event.offsetY <= y + height);
    if (held !== null && Math.abs(event.offsetX - held) > 3) select(timeAt(held), timeAt(event.offsetX));
    else if (row && event.offsetX > gutter) point(row, timeAt(event.offsetX));
  });
  for (const ends of ["pointerup", "pointercancel"]) canvas.addEventListener(ends, () => (held = null));

  function fromAddress() {
    const [begin, end, first, last] = (location.hash.match(/^#timeline=([\d,]+)$/)?.[1] ?? "").split(",").map(Number);
    if (!(end > begin)) return;
    show(begin, end);
    if (last > first) select(first, last);
    canvas.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => draw(1000, 3));
  addEventListener("afterprint", () => draw());
  new ResizeObserver(() => !pending && canvas.clientWidth !== wide && draw()).observe(canvas);
  told.textContent = island.kept
    ? "This page has the tasks on CPUs only around the largest differences, which keeps it small."
    : `${words[0] ? words.length : "No"} differing decisions. Focus the timeline for its keys.`;
  draw();
  fromAddress();
}
