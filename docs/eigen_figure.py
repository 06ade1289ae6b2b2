"""Draws docs/eigen.svg: python3 docs/eigen_figure.py > docs/eigen.svg

Left: what the composite polynomial of solver/src/device/sign_schedule.hpp makes of eigenvalues, step by step (the
coefficients are read from that file). Right: a spectrum that is halved level by level, A in the basis of each level.
"""
import pathlib
import re

SCHEDULE = pathlib.Path(__file__).resolve().parent.parent / "solver/src/device/sign_schedule.hpp"
text = SCHEDULE.read_text()
first = text[text.index("kFirst{{"):]
first = first[:first.index("kShort")]
STEPS = [tuple(map(float, m)) for m in re.findall(r"\{(-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\}", first)]
assert len(STEPS) == 8
CLOSING = (15 / 8, -5 / 4, 3 / 8)


def apply(step, x):
    a, b, c = step
    return x * (a + b * x * x + c * x ** 4)


out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 345" font-family="sans-serif" font-size="12">',
       '<rect width="100%" height="100%" fill="white"/>',
       '<text x="40" y="20">sign(x) after 0, 2, 4, 6, 8 steps and the closing one</text>']
left, width, middle, height = 40, 380, 175, 120


def px(t):
    return left + width * (t + 1) / 2


def py(v):
    return middle - height * v / 1.5


out.append(f'<line x1="{px(-1)}" x2="{px(1)}" y1="{py(0)}" y2="{py(0)}" stroke="#bbb"/>')
out.append(f'<line x1="{px(0)}" x2="{px(0)}" y1="{py(-1.5)}" y2="{py(1.5)}" stroke="#bbb"/>')
# The axis of eigenvalues is logarithmic on both sides of zero: 1e-4 to 1.
points = [(s * (4 + e) / 4, s * 10 ** e) for s in (-1, 1) for e in [-4 + 4 * i / 300 for i in range(301)]]
points.sort()
colours = ["#cbd5e1", "#93b4dd", "#5b8fd0", "#2563a8", "#12325c", "#c2410c"]
for colour, count in zip(colours, (0, 2, 4, 6, 8, 9)):
    path = []
    for t, x in points:
        for step in STEPS[:min(count, 8)]:
            x = apply(step, x)
        if count == 9:
            x = apply(CLOSING, x)
        path.append(f"{px(t):.1f},{py(x):.1f}")
    out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1" points="{" ".join(path)}"/>')
for t, label in ((-1, "-1"), (-0.5, "-1e-2"), (0, "0"), (0.5, "1e-2"), (1, "1")):
    out.append(f'<text x="{px(t):.0f}" y="{py(-1.5) + 16:.0f}" text-anchor="middle">{label}</text>')
out.append(f'<text x="{px(0):.0f}" y="{py(-1.5) + 34:.0f}" text-anchor="middle">eigenvalue of A - sigma I, in units of its norm</text>')

# Right: blocks of A in the bases of four levels.
levels = ([128], [62, 66], [33, 29, 30, 36], [16, 17, 14, 15, 15, 15, 20, 16], None)
names = ("A", "Q1'AQ1", "level 2", "level 3", "leaves")
size = 76
for number, (blocks, name) in enumerate(zip(levels, names)):
    x0, y0 = 480 + (number % 3) * 140, 40 + (number // 3) * 140
    out.append(f'<rect x="{x0}" y="{y0}" width="{size}" height="{size}" fill="#f1f5f9" stroke="#94a3b8"/>')
    at = 0
    for i, block in enumerate(blocks or [1] * 128):
        side = block * size / 128
        shade = "#2563a8" if i % 2 == 0 else "#5b8fd0"
        out.append(f'<rect x="{x0 + at:.2f}" y="{y0 + at:.2f}" width="{max(side, 0.6):.2f}" height="{max(side, 0.6):.2f}" fill="{shade}"/>')
        at += side
    out.append(f'<text x="{x0 + size / 2}" y="{y0 + size + 18}" text-anchor="middle">{name}</text>')
    if number < 2 or number == 3:
        out.append(f'<text x="{x0 + size + 14}" y="{y0 + size / 2}">sign,</text><text x="{x0 + size + 14}" y="{y0 + size / 2 + 14}">split</text>')
out.append('<text x="760" y="220">the host: 16 x 16,</text><text x="760" y="236">in double</text>')
out.append("</svg>")
print("\n".join(out))
