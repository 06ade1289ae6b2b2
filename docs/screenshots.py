#!/usr/bin/env python3
"""Pictures of report pages, and of the timeline in the README, for the documentation: screenshots.py TRNSCI [FOLDER]

Draws docs/mp2_timeline.svg from a trace (in FOLDER, where one is given). Makes four pages with the trnsci command (an MP2 run, a profile, a comparison, curves over chips), takes a picture of
each at the width of a desktop and of a phone with headless Chromium, and writes them to FOLDER (docs/figures unless
given), at most 60 kB each. Without Chromium it says so and makes no picture of a page. Every number on the pages but the measured times
of the MP2 run is modelled, so the pictures change only when the model or the pages do.
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GEMM = "profile blas.gemm --m 1024 --n 1024 --k 1024 --dtype"
PAGES = {  # name: commands, page, heights on a desktop and on a phone
    "page-mp2": (["mp2 {water} --exec sim:trn2 --precision exact --quiet --html page-mp2.html"], 900, 1180),
    "page-profile": ([f"{GEMM} bf16 --html page-profile.html"], 1000, 1180),
    "page-compare": ([f"{GEMM} fp32 --json fp32.json", f"{GEMM} bf16 --json bf16.json",
                      "compare fp32.json bf16.json --html page-compare.html"], 800, 1000),
    "page-scale": (["scale gemm --n 16384 --html page-scale.html"], 1000, 1180),
}
WIDTHS = {"desktop": 1280, "phone": 390}
LIMIT = 60_000


def chromium():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


def pixels(png):
    """Width, height and RGB rows of a PNG of 8 bits without interlacing, as Chromium writes them."""
    at, data, width, height, channels = 8, b"", 0, 0, 3
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at:at + 4]), png[at + 4:at + 8]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", png[at + 8:at + 21])
            if depth != 8 or colour not in (2, 6) or interlace:
                raise SystemExit(f"a PNG of depth {depth}, colour type {colour}")
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(data), width * channels
    rows, before = [], bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        filtered, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for x in range(stride):
            left, up = row[x - channels] if x >= channels else 0, before[x]
            corner = before[x - channels] if x >= channels else 0
            if filtered == 1:
                add = left
            elif filtered == 2:
                add = up
            elif filtered == 3:
                add = (left + up) // 2
            elif filtered == 4:  # Paeth
                guess = left + up - corner
                distances = abs(guess - left), abs(guess - up), abs(guess - corner)
                add = (left, up, corner)[distances.index(min(distances))]
            else:
                break
            row[x] = (row[x] + add) & 255
        rows.append(row)
        before = row
    return width, height, [[tuple(row[x:x + 3]) for x in range(0, stride, channels)] for row in rows]


def with_palette(png, colours):
    """The same picture with at most so many colours: the most frequent ones, others by the nearest of them."""
    width, height, rows = pixels(png)
    counts = {}
    for row in rows:
        for pixel in row:
            counts[pixel] = counts.get(pixel, 0) + 1
    palette = []
    for pixel in sorted(counts, key=counts.get, reverse=True):  # not two that the eye takes for one
        if all(sum(abs(a - b) for a, b in zip(pixel, other)) > 12 for other in palette):
            palette.append(pixel)
            if len(palette) == colours:
                break
    place = {p: min(range(len(palette)), key=lambda i, p=p: sum((a - b) ** 2 for a, b in zip(p, palette[i]))) for p in counts}
    bits = 4 if len(palette) <= 16 else 8
    lines = b""
    for row in rows:
        values = [place[pixel] for pixel in row]
        if bits == 4:
            values += [0] * (len(values) % 2)
            values = [values[i] << 4 | values[i + 1] for i in range(0, len(values), 2)]
        lines += b"\0" + bytes(values)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(v for p in palette for v in p)) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def timeline(command, path):
    """60 microseconds of the pair energies of (H2O)8."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([command, "profile", "blas.pair_energy", "--nocc", "40", "--naux", "672", "--nvir", "152", "--trace", "t.json"],
                       cwd=name, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sys.executable, ROOT / "apps" / "mp2" / "timeline_svg.py", f"{name}/t.json", "1000", "1060", path], check=True)


def main(command, folder, timeline_folder):
    timeline(command, timeline_folder / "mp2_timeline.svg")
    browser = chromium()
    if not browser:
        print("there is no Chromium here: no picture was made")
        return 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        shutil.copy(ROOT / "apps" / "mp2" / "molecules" / "water.xyz", work)
        for page, (lines, *heights) in PAGES.items():
            for line in lines:
                subprocess.run([command, *line.format(water="water.xyz").split()], cwd=work, check=True, stdout=subprocess.DEVNULL)
            for (device, width), height in zip(WIDTHS.items(), heights):
                shot = work / f"{page}-{device}.png"
                subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=3000",
                                f"--window-size={width},{height}", f"--screenshot={shot}", (work / f"{page}.html").as_uri()],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for colours in (48, 32, 16, 8):
                    small = with_palette(shot.read_bytes(), colours)
                    if len(small) <= LIMIT:
                        break
                (folder / shot.name).write_bytes(small)
                print(f"{shot.name}: {width} x {height}, {colours} colours, {len(small)} bytes")
    return 0


if __name__ == "__main__":
    given = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), given or ROOT / "docs" / "figures", given or ROOT / "docs"))
