#!/usr/bin/env python3
"""Draws part of a trace that `trnsci profile ... --trace FILE` wrote as an SVG picture: one row per lane.

usage: timeline_svg.py TRACE FROM_US TO_US OUT.svg
"""
import json
import sys

COLOURS = {"tensor": "#2563a8", "vector": "#b4540a", "scalar": "#2e7d4f", "gpsimd": "#7a4fa3"}


def main():
    trace, begin, end, out = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    data = json.load(open(trace))
    events = data["traceEvents"] if isinstance(data, dict) else data
    names = {(e.get("pid"), e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    bars = [e for e in events if e["ph"] == "X" and e["ts"] < end and e["ts"] + e["dur"] > begin]
    lanes = [key for key in names if any((b.get("pid"), b["tid"]) == key for b in bars)]
    left, width, row, right = 110, 800, 24, 40
    x = lambda t: left + width * (min(max(t, begin), end) - begin) / (end - begin)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + right} {len(lanes) * row + 40}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    for k, lane in enumerate(lanes):
        y = 8 + k * row
        svg.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{names[lane]}</text><line x1="{left}" x2="{left + width}" y1="{y + 19}" y2="{y + 19}" stroke="#ddd"/>')
        spans = []  # bars whose gap the eye does not see are one
        for a, b in sorted((x(b["ts"]), x(b["ts"] + b["dur"])) for b in bars if (b.get("pid"), b["tid"]) == lane):
            if spans and a - spans[-1][1] < 0.4:
                spans[-1][1] = max(spans[-1][1], b)
            else:
                spans.append([a, b])
        for a, b in spans:
            svg.append(f'<rect x="{a:.2f}" y="{y}" width="{max(0.3, b - a):.2f}" height="18" fill="{COLOURS.get(names[lane], "#666")}"/>')
    y = 8 + len(lanes) * row + 14
    for k in range(6):
        t = begin + (end - begin) * k / 5
        svg.append(f'<text x="{x(t):.1f}" y="{y}" text-anchor="middle">{t:.0f} us</text>')
    open(out, "w").write("\n".join(svg + ["</svg>"]) + "\n")


main()
