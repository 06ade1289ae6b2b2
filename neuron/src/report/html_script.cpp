// The page's script: it unpacks timeline_json() and draws the lanes on a canvas that zooms and pans, with a strip of
// the whole timeline below. Instruction texts reach the page only through textContent, so they are never markup.
#include "html_parts.hpp"

namespace trn::neuron::report {

std::string_view page_script() {
  return R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const lanesCanvas = document.getElementById('lanes'), strip = document.getElementById('strip'), tip = document.getElementById('tip');
const axisHeight = 24, rowHeight = 22, rowGap = 6, colours = 8;

// Every bar of a lane: begin, end (seconds from the start of the launch), opcode, and what the tooltip says.
const lanes = data.lanes.map(lane => {
  const items = [];
  let now = 0;
  for (let i = 0; i < lane.detail.length; i += 3) {
    const begin = now + lane.detail[i], end = now = begin + lane.detail[i + 1], text = 2 * lane.detail[i + 2];
    items.push({begin: data.launch + begin * data.detailTick, end: data.launch + end * data.detailTick,
                text: data.texts[text], opcode: data.texts[text + 1], count: 1, busy: 100});
  }
  now = 0;
  for (let i = 0; i < lane.merged.length; i += 5) {
    const begin = now + lane.merged[i], end = now = begin + lane.merged[i + 1];
    items.push({begin: data.launch + begin * data.mergedTick, end: data.launch + end * data.mergedTick, text: '',
                opcode: lane.merged[i + 2], count: lane.merged[i + 3], busy: lane.merged[i + 4]});
  }
  return {name: lane.name, items, used: lane.instructions > 0, cut: lane.kept < lane.instructions};
});
const whole = data.cut ? data.launch + data.end : Math.max(data.seconds, data.launch + data.end);
const shortest = Math.min(whole, 2e-8);
let view = {begin: 0, end: whole}, hover = null, style = {}, labelWidth = 80;

function readStyle() {
  const css = getComputedStyle(document.documentElement), v = name => css.getPropertyValue('--' + name).trim();
  style = {ink: v('ink'), soft: v('soft'), faint: v('faint'), grid: v('grid'), lane: v('lane'), accent: v('accent'), on: v('on'),
           edge: v('edge'), opcodes: data.opcodes.map((_, i) => v(i < colours && i < data.opcodes.length - 1 ? 'c' + i : 'c-other'))};
}

// A step of 1, 2 or 5 times a power of ten.
function niceStep(span, marks) {
  const raw = span / marks, power = 10 ** Math.floor(Math.log10(raw)), m = raw / power;
  return power * (m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1);
}
const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns']];
const unitFor = s => units.find(u => s >= u[0] * 0.99995) || units[3];
function timeText(s, digits = 4) { const u = unitFor(s); return +(s / u[0]).toPrecision(digits) + ' ' + u[1]; }
function axisText(t, step) {
  const u = unitFor(view.end), decimals = Math.max(0, Math.ceil(-Math.log10(step / u[0]) - 1e-9));
  return (t / u[0]).toFixed(decimals) + ' ' + u[1];
}

function prepare(canvas, height) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const g = canvas.getContext('2d');
  g.scale(scale, scale);
  g.font = '12px system-ui, "Segoe UI", "Liberation Sans", sans-serif';
  g.textBaseline = 'middle';
  return [g, width];
}
function hatch(g, x, y, w, h) {
  if (w <= 0) return;
  g.save();
  g.beginPath(); g.rect(x, y, w, h); g.clip();
  g.strokeStyle = style.edge; g.lineWidth = 1.5;
  g.beginPath();
  for (let d = Math.floor(x / 8) * 8 - h; d < x + w; d += 8) { g.moveTo(d, y + h); g.lineTo(d + h, y); }
  g.stroke();
  g.restore();
}
function firstEndingAfter(items, time) {
  let low = 0, high = items.length;
  while (low < high) { const mid = (low + high) >> 1; if (items[mid].end < time) low = mid + 1; else high = mid; }
  return low;
}
const toX = (t, width) => labelWidth + (t - view.begin) / (view.end - view.begin) * (width - labelWidth);
const toTime = (x, width) => view.begin + (x - labelWidth) / (width - labelWidth) * (view.end - view.begin);
const rowTop = row => axisHeight + row * (rowHeight + rowGap);

function drawItem(g, item, x, w, y) {
  const share = item.busy / 100, colour = style.opcodes[item.opcode];
  g.fillStyle = colour;
  if (share < 1) { g.globalAlpha = 0.25; g.fillRect(x, y, w, rowHeight); g.globalAlpha = 1; }
  const tall = Math.max(2, rowHeight * share);
  g.fillRect(x, y + rowHeight - tall, w > 9 ? w - 1 : w, tall);
  if (item === hover) { g.strokeStyle = style.ink; g.lineWidth = 2; g.strokeRect(x + 1, y + 1, Math.max(1, w - 2), rowHeight - 2); }
  const name = data.opcodes[item.opcode];
  if (w > 30 && share > 0.8) {
    const left = Math.max(x, labelWidth) + 5, room = x + w - left - 4;
    g.fillStyle = style.on;
    for (const text of [item.count > 1 ? name + ' ×' + item.count : name, name]) {
      if (g.measureText(text).width <= room) { g.fillText(text, left, y + rowHeight / 2 + 0.5); break; }
    }
  }
}
// Calls draw(item, x, width, alone) for what is in view. Neighbours too narrow to tell apart come as one bar, which
// spares the eye the moire of their seams.
function forBars(items, from, until, px, draw) {
  const narrow = 6, close = 0.3;
  for (let i = firstEndingAfter(items, from); i < items.length && items[i].begin <= until; ++i) {
    const item = items[i], x = px(item.begin);
    let end = px(item.end);
    const alone = end - x >= narrow || item === hover;
    for (let next; !alone && (next = items[i + 1]) && next !== hover && next.opcode === item.opcode && next.busy === item.busy; ++i) {
      const begin = px(next.begin), to = px(next.end);
      if (begin - end > close || to - begin >= narrow) break;
      end = to;
    }
    draw(item, x, end - x, alone);
  }
}
// A bar thinner than a hair is drawn as a hair, but paler.
function drawNarrow(g, item, x, w, y, h) {
  const hair = 0.8;
  g.fillStyle = style.opcodes[item.opcode];
  g.globalAlpha = Math.max(0.3, item.busy / 100 * Math.min(1, w / hair));
  g.fillRect(x, y, Math.max(hair, w), h);
  g.globalAlpha = 1;
}
function shortened(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  while (text && g.measureText(text + '…').width > room) text = text.slice(0, -1);
  return text + '…';
}
function drawLane(g, lane, row, width) {
  const y = rowTop(row);
  g.save();
  g.beginPath(); g.rect(labelWidth, y, width - labelWidth, rowHeight); g.clip();
  forBars(lane.items, view.begin, view.end, t => toX(t, width), (item, x, w, alone) => {
    if (alone) drawItem(g, item, x, w, y); else drawNarrow(g, item, x, w, y, rowHeight);
  });
  const last = lane.items.length ? lane.items[lane.items.length - 1].end : data.launch;
  if (lane.cut) hatch(g, toX(last, width), y, toX(whole, width) - toX(last, width), rowHeight);
  g.restore();
  g.fillStyle = lane.used ? style.ink : style.faint;
  g.fillText(shortened(g, lane.name, labelWidth - 10), 0, y + rowHeight / 2 + 0.5);
}
function drawLanes() {
  const bottom = rowTop(lanes.length) - rowGap, [g, width] = prepare(lanesCanvas, bottom + 2);
  labelWidth = Math.min(190, 0.36 * width, 14 + Math.max(50, ...lanes.map(l => g.measureText(l.name).width)));
  g.fillStyle = style.lane;
  lanes.forEach((lane, row) => g.fillRect(labelWidth, rowTop(row), width - labelWidth, rowHeight));
  const step = niceStep(view.end - view.begin, (width - labelWidth) / 110);
  for (let k = Math.ceil(view.begin / step - 1e-9); k * step <= view.end; ++k) {
    const x = toX(k * step, width), text = axisText(k * step, step), half = g.measureText(text).width / 2;
    g.fillStyle = style.grid; g.globalAlpha = 0.8; g.fillRect(x, axisHeight - 6, 1, bottom - axisHeight + 6); g.globalAlpha = 1;
    g.fillStyle = style.faint;
    g.fillText(text, Math.min(width - 2 * half, Math.max(labelWidth, x - half)), 8);
  }
  lanes.forEach((lane, row) => drawLane(g, lane, row, width));
  const right = toX(data.launch, width);
  if (right > labelWidth) {
    hatch(g, labelWidth, axisHeight, Math.min(right, width) - labelWidth, bottom - axisHeight);
    const text = ['launch ' + timeText(data.launch, 3), 'launch'].find(t => g.measureText(t).width + 16 < right - labelWidth);
    if (text) {
      const y = (axisHeight + bottom) / 2, w = g.measureText(text).width + 12, x = (labelWidth + Math.min(right, width) - w) / 2;
      g.fillStyle = style.lane; g.fillRect(x, y - 10, w, 20);
      g.fillStyle = style.soft; g.fillText(text, x + 6, y);
    }
  }
}
function drawStrip() {
  const height = 34, [g, width] = prepare(strip, height), px = t => labelWidth + t / whole * (width - labelWidth);
  const used = lanes.filter(l => l.items.length), tall = (height - 4) / Math.max(1, used.length);
  g.fillStyle = style.lane;
  g.fillRect(labelWidth, 0, width - labelWidth, height);
  used.forEach((lane, row) => {
    forBars(lane.items, 0, whole, px, (item, x, w) => drawNarrow(g, item, x, w, 2 + row * tall, Math.max(1, tall - 1)));
  });
  const x = px(view.begin), w = Math.max(3, px(view.end) - x);
  g.globalAlpha = 0.12; g.fillStyle = style.accent; g.fillRect(x, 0, w, height); g.globalAlpha = 1;
  g.strokeStyle = style.accent; g.lineWidth = 1.5; g.strokeRect(x + 0.75, 0.75, w - 1.5, height - 1.5);
}
let pending = false;
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; drawLanes(); drawStrip(); });
}

function show(begin, end) {
  const span = Math.min(whole, Math.max(shortest, end - begin));
  begin = Math.min(whole - span, Math.max(0, (begin + end - span) / 2));
  view = {begin, end: begin + span};
  redraw();
}
function zoom(factor, at = (view.begin + view.end) / 2) {
  const span = Math.min(whole, Math.max(shortest, (view.end - view.begin) * factor)), r = (at - view.begin) / (view.end - view.begin);
  show(at - r * span, at - r * span + span);
}
const pan = share => { const d = share * (view.end - view.begin); show(view.begin + d, view.end + d); };

function line(tag, text) { const e = document.createElement(tag); e.textContent = text; return e; }
function point(event) {
  const box = lanesCanvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const row = Math.floor((y - axisHeight) / (rowHeight + rowGap)), lane = lanes[row];
  let found = null;
  if (lane && x >= labelWidth) {
    const slack = 2 * (view.end - view.begin) / (box.width - labelWidth), time = toTime(x, box.width);
    const i = firstEndingAfter(lane.items, time), fits = [lane.items[i], lane.items[i - 1]].filter(Boolean);
    found = fits.find(k => k.begin <= time && time <= k.end) || fits.find(k => k.begin - slack <= time && time <= k.end + slack) || null;
  }
  if (found !== hover) { hover = found; redraw(); }
  tip.hidden = !found;
  if (!found) return;
  const name = data.opcodes[found.opcode], many = found.count > 1;
  tip.replaceChildren(line('b', many ? found.count + ' instructions, mostly ' + name : name), line('code', found.text),
    line('span', lane.name + ' · starts at ' + timeText(found.begin, 6) + ' · ' + timeText(found.end - found.begin) + ' long' +
                 (found.busy < 100 ? ' · busy ' + found.busy + ' %' : '')));
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), above = event.clientY - tip.offsetHeight - 12;
  tip.style.left = Math.max(8, left) + 'px';
  tip.style.top = (above > 8 ? above : event.clientY + 18) + 'px';
}

let drag = null;
lanesCanvas.addEventListener('wheel', e => {
  e.preventDefault();
  const box = lanesCanvas.getBoundingClientRect();
  if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / box.width);
  else zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * (e.deltaMode ? 0.05 : 0.002)))), toTime(Math.max(labelWidth, e.clientX - box.left), box.width));
  point(e);
}, {passive: false});
lanesCanvas.addEventListener('pointerdown', e => { drag = e.clientX; lanesCanvas.setPointerCapture(e.pointerId); lanesCanvas.classList.add('dragging'); });
lanesCanvas.addEventListener('pointermove', e => {
  if (drag === null) return point(e);
  tip.hidden = true;
  pan((drag - e.clientX) / (lanesCanvas.clientWidth - labelWidth));
  drag = e.clientX;
});
for (const end of ['pointerup', 'pointercancel']) lanesCanvas.addEventListener(end, () => { drag = null; lanesCanvas.classList.remove('dragging'); });
lanesCanvas.addEventListener('pointerleave', () => { hover = null; tip.hidden = true; redraw(); });
lanesCanvas.addEventListener('dblclick', () => show(0, whole));
lanesCanvas.addEventListener('keydown', e => {
  const act = {ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7), '0': () => show(0, whole)}[e.key];
  if (act) { e.preventDefault(); act(); }
});
function centre(e) {
  const box = strip.getBoundingClientRect(), at = (e.clientX - box.left - labelWidth) / (box.width - labelWidth) * whole;
  const half = (view.end - view.begin) / 2;
  show(at - half, at + half);
}
strip.addEventListener('pointerdown', e => { strip.setPointerCapture(e.pointerId); centre(e); });
strip.addEventListener('pointermove', e => { if (e.buttons) centre(e); });
const actions = {home: () => show(0, whole), detail: () => show(0, data.launch + data.detailEnd), in: () => zoom(0.5), out: () => zoom(2)};
for (const button of document.querySelectorAll('button[data-do]')) {
  button.addEventListener('click', actions[button.dataset.do]);
  if (button.dataset.do === 'detail') {
    button.hidden = !lanes.some(l => l.items.some(i => i.count > 1));
    button.title = 'The start of the run, where every instruction is its own bar';
  }
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readStyle(); redraw(); });
new ResizeObserver(redraw).observe(lanesCanvas);
readStyle();
redraw();
)js";
}

}  // namespace trn::neuron::report
