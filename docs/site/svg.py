"""Pictures of the deep dives as SVG text: bars, dots on a logarithmic axis, and two designs side by side. No library."""
import html
import math

BLUE, ORANGE, GREY, INK, LIGHT = "#2563a8", "#c2571a", "#8a939c", "#1c2733", "#eef2f6"


def text(x, y, words, size=13, anchor="start", fill=INK, weight="normal"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}">{html.escape(words)}</text>'


def page(width, height, title, body):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" role="img">'
    return "\n".join([head, f"<title>{html.escape(title)}</title>", '<rect width="100%" height="100%" fill="white"/>', *body, "</svg>", ""])


def bars(title, rows, unit):
    """rows: (label, value, words beside the bar, kind); kind 1 is drawn in orange, kind 2 in grey."""
    left, wide, step = 250, 420, 28
    top = max(value for _, value, _, _ in rows)
    body = [text(16, 26, title, 15, weight="bold")]
    for i, (label, value, words, kind) in enumerate(rows):
        y = 44 + i * step
        body.append(text(left - 10, y + 15, label, anchor="end"))
        body.append(f'<rect x="{left}" y="{y}" width="{max(1.0, wide * value / top):.1f}" height="20" fill="{(BLUE, ORANGE, GREY)[kind]}"/>')
        body.append(text(left + 8 + wide * value / top, y + 15, words))
    body.append(text(left, 60 + len(rows) * step, unit, 12, fill=GREY))
    return page(820, 72 + len(rows) * step, title, body)


def spans(title, rows, low, high, unit):
    """rows: (label, from, to, words): lines with an open and a full end on a logarithmic axis in powers of ten."""
    left, wide, step = 150, 470, 32
    at = lambda v: left + wide * (math.log10(v) - low) / (high - low)
    bottom = 50 + step * len(rows)
    body = [text(16, 26, title, 15, weight="bold")]
    for power in range(low, high + 1, 2):
        x = at(10.0 ** power)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="44" y2="{bottom}" stroke="#d5dbe1"/>')
        body.append(text(x, bottom + 18, f"1e{power}", 12, "middle"))
    for i, (label, a, b, words) in enumerate(rows):
        y = 50 + step * i + step / 2
        body.append(text(left - 12, y + 4, label, anchor="end"))
        body.append(f'<line x1="{at(a):.1f}" x2="{at(b):.1f}" y1="{y}" y2="{y}" stroke="{BLUE}" stroke-width="3"/>')
        body.append(f'<circle cx="{at(a):.1f}" cy="{y}" r="5" fill="{BLUE}"/>')
        body.append(f'<circle cx="{at(b):.1f}" cy="{y}" r="5" fill="white" stroke="{BLUE}" stroke-width="2"/>')
        body.append(text(left + wide + 16, y + 4, words))
    body.append(text(left + wide / 2, bottom + 40, unit, 12, "middle", GREY))
    return page(820, bottom + 52, title, body)


def dots(title, groups, low, high, unit):
    """groups: (name, values, kind), each a row of dots on a logarithmic axis from low to high."""
    left, wide, step = 150, 600, 74
    at = lambda v: left + wide * math.log(v / low) / math.log(high / low)
    bottom = 52 + step * len(groups)
    body = [text(16, 26, title, 15, weight="bold")]
    for tick in (0.5, 0.67, 0.8, 1, 1.25, 1.5, 2):
        if low <= tick <= high:
            colour = INK if tick == 1 else "#d5dbe1"
            body.append(f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="44" y2="{bottom}" stroke="{colour}"/>')
            body.append(text(at(tick), bottom + 18, f"{tick:g}", 12, "middle"))
    for row, (name, values, kind) in enumerate(groups):
        middle = 52 + step * row + step / 2
        body.append(text(left - 12, middle + 4, name, anchor="end"))
        taken = []
        for value in sorted(values):
            x, lane = at(value), 0
            while any(abs(x - a) < 8 and lane == b for a, b in taken):
                lane += 1
            taken.append((x, lane))
            y = middle + (lane + 1) // 2 * 8 * (-1 if lane % 2 else 1)
            body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{(BLUE, ORANGE, GREY)[kind]}"/>')
    body.append(text(left + wide / 2, bottom + 40, unit, 12, "middle", GREY))
    return page(820, bottom + 52, title, body)


def times(title, series, unit):
    """series: (name, points, kind, dashed): lines of (number, seconds) over octaves of both, each with its name at its end."""
    left, wide, top, tall = 90, 520, 50, 260
    xs = [x for _, points, _, _ in series for x, _ in points]
    ys = [y for _, points, _, _ in series for _, y in points]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    across = lambda x: left + wide * math.log(x / min(xs)) / math.log(max(xs) / min(xs))
    down = lambda y: top + tall * (high - math.log10(y)) / (high - low)
    body = [text(16, 26, title, 15, weight="bold")]
    for power in range(low, high + 1):
        y, (scale, name) = down(10.0 ** power), next(u for u in ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns")) if power >= u[0])
        body.append(f'<line x1="{left}" x2="{left + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d5dbe1"/>')
        body.append(text(left - 10, y + 4, f"{10 ** (power - scale)} {name}", 12, "end"))
    for x in sorted(set(xs)):
        body.append(text(across(x), top + tall + 20, f"{x}", 12, "middle"))
    ends = []
    for name, points, kind, dashed in series:
        colour = (BLUE, ORANGE, GREY)[kind]
        body.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2"{" stroke-dasharray=" + chr(34) + "5 4" + chr(34) if dashed else ""} '
                    f'points="{" ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in points)}"/>')
        ends.append([down(points[-1][1]) + 4, name, colour])
    ends.sort()
    for i, (y, name, colour) in enumerate(ends):  # one below the other
        y = ends[i][0] = max(y, ends[i - 1][0] + 16) if i else y
        body.append(text(left + wide + 8, y, name, 12, fill=colour))
    body.append(text(left + wide / 2, top + tall + 42, unit, 12, "middle", GREY))
    return page(820, top + tall + 54, title, body)


def contrast(title, *panels):
    """panels: (title, steps, foot). Each panel is a column of boxes with arrows between them."""
    width, gap = 390, 20
    tall = 78 + 64 * max(len(steps) for _, steps, _ in panels) + 30
    body = [text(16, 26, title, 15, weight="bold")]
    for i, (name, steps, foot) in enumerate(panels):
        x, colour = 16 + i * (width + gap), (GREY, BLUE)[i % 2]
        body.append(f'<g class="panel"><rect x="{x}" y="40" width="{width}" height="{tall - 52}" rx="6" fill="{LIGHT}"/>')
        body.append(text(x + width / 2, 64, name, 14, "middle", colour, "bold"))
        for k, lines in enumerate(steps):
            y = 78 + 64 * k
            body.append(f'<rect x="{x + 16}" y="{y}" width="{width - 32}" height="46" rx="4" fill="white" stroke="{colour}"/>')
            lines = lines.split("\n")
            for r, line in enumerate(lines):
                body.append(text(x + width / 2, y + (28 if len(lines) == 1 else 19 + 17 * r), line, 13, "middle"))
            if k + 1 < len(steps):
                cx = x + width / 2
                body.append(f'<path d="M{cx} {y + 46} v12 m-4 -5 l4 6 l4 -6" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        body.append(text(x + width / 2, tall - 22, foot, 13, "middle", colour, "bold"))
        body.append("</g>")
    return page(32 + len(panels) * (width + gap) - gap, tall, title, body)
