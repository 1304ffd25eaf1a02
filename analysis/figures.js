// SPDX-License-Identifier: GPL-2.0-or-later
// Figures that zoom: a drag shows a part, a double click or Escape all; keys + - and arrows.
"use strict";

for (const svg of document.querySelectorAll("figure svg")) {
  const [left, top, wide, tall] = svg.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  let shown = [left, top, 1], held = null; // its corner, and how much it is enlarged
  const at = ({ clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  // The part around a point, as large as times the whole is, within the figure.
  const show = (x, y, times) => {
    const part = Math.min(1, Math.max(0.02, times)), within = (low, length, middle) =>
      Math.min(low + length * (1 - part), Math.max(low, middle - (length * part) / 2));
    shown = [within(left, wide, x), within(top, tall, y), part];
    svg.setAttribute("viewBox", `${shown[0]} ${shown[1]} ${wide * part} ${tall * part}`);
  };
  const by = (across, down, times) => show(shown[0] + wide * shown[2] * (0.5 + across),
    shown[1] + tall * shown[2] * (0.5 + down), shown[2] * times);
  const KEYS = { "+": [0, 0, 0.5], "-": [0, 0, 2], Escape: [0, 0, Infinity], ArrowLeft: [-0.2, 0, 1],
    ArrowRight: [0.2, 0, 1], ArrowUp: [0, -0.2, 1], ArrowDown: [0, 0.2, 1] };
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    by(...KEYS[event.key]);
  });
  svg.addEventListener("pointerdown", (event) => (held = at(event)));
  svg.addEventListener("pointerup", (event) => {
    const end = at(event), [x, y] = held ? [Math.abs(end.x - held.x), Math.abs(end.y - held.y)] : [0, 0];
    const part = Math.max(x / wide, y / tall);
    if (part > 0.02 * shown[2]) show((end.x + held.x) / 2, (end.y + held.y) / 2, part);
    held = null;
  });
  svg.addEventListener("dblclick", () => show(left, top, 1));
  addEventListener("beforeprint", () => show(left, top, 1));
}
