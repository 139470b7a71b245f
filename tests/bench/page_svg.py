# SPDX-License-Identifier: MIT
"""Plain plots as SVG text: lines and bars, legible on light and dark."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 62, 56
# Apart for eyes that see red and green alike, and on white as on black.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#7f7fd5")
STYLE = """  <style>
    text { font: 13px sans-serif; fill: #6e7781; }
    .title { font-size: 15px; font-weight: bold; }
    .axis { stroke: #57606a; fill: none; }
    .grid { stroke: #8c959f; stroke-opacity: 0.35; fill: none; }
    .line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
    @media (prefers-color-scheme: light) {
      text { fill: #24292f; }
    }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .axis { stroke: #9198a1; }
    }
  </style>
"""


def text_of(value):
    """A tick's label."""
    if value != 0 and abs(value) < 0.01:
        return "%.3g" % value
    return "{:,.10g}".format(round(value, 6))


class Axis:
    def __init__(self, low, high, start, end, log=False):
        self.log = log
        self.start, self.end = start, end
        if log:
            self.low, self.high = low, high
            first = math.floor(math.log2(low) + 1e-9)
            last = math.ceil(math.log2(high) - 1e-9)
            step = max(1, (last - first) // 8)
            self.ticks = [2.0 ** k for k in range(first, last + 1, step)
                          if low <= 2.0 ** k <= high * 1.0001]
            if last - first > 8:
                self.ticks = [10.0 ** k for k in range(
                    math.floor(math.log10(low)),
                    math.ceil(math.log10(high)) + 1)
                    if low <= 10.0 ** k <= high * 1.0001]
        else:
            step = self.nice((high - low) / 6)
            self.low = math.floor(low / step + 1e-9) * step
            self.high = math.ceil(high / step - 1e-9) * step
            count = round((self.high - self.low) / step)
            self.ticks = [self.low + step * k for k in range(count + 1)]

    @staticmethod
    def nice(step):
        power = 10 ** math.floor(math.log10(step))
        for factor in (1, 2, 2.5, 5, 10):
            if step <= factor * power * 1.0001:
                return factor * power

    def at(self, value):
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def frame(title, height=HEIGHT):
    return ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
            'role="img" aria-label="%s">\n' % (WIDTH, height, escape(
                title, {'"': "&quot;"})), STYLE,
            '  <text class="title" x="%d" y="22">%s</text>\n' %
            (LEFT, escape(title))]


def lines(title, x_title, y_title, series, x_log=False, y_log=False,
          x_ticks=None, y_from=0, nested=False, y_to=None):
    """`series`: (name, [(x, y), ...], dashed); nested: each is drawn thinner
    than the one before, so that those that coincide are all seen."""
    points = [point for _, some, _ in series for point in some]
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    x = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, x_log)
    low, high = y_from, y_to or max(ys)
    if y_log:
        low, high = (2.0 ** f(math.log2(v)) for f, v in (
            (math.floor, min(ys)), (math.ceil, max(ys))))
    y = Axis(low, high, HEIGHT - BOTTOM, TOP, y_log)
    if not x_log:
        x.low, x.high = min(xs), max(xs)
    if x_ticks:
        x.ticks = x_ticks
    out = frame(title)
    for tick in y.ticks:
        at = y.at(tick)
        out.append('  <path class="grid" d="M%d %.1fH%d"/>\n' %
                   (LEFT, at, WIDTH - RIGHT))
        out.append('  <text x="%d" y="%.1f" text-anchor="end">%s</text>\n' %
                   (LEFT - 8, at + 4, text_of(tick)))
    for tick in x.ticks:
        if not x.low <= tick <= x.high * 1.0001:
            continue
        at = x.at(tick)
        out.append('  <path class="axis" d="M%.1f %dv5"/>\n' %
                   (at, HEIGHT - BOTTOM))
        out.append('  <text x="%.1f" y="%d" text-anchor="middle">%s</text>\n'
                   % (at, HEIGHT - BOTTOM + 20, text_of(tick)))
    out.append('  <path class="axis" d="M%d %dV%dH%d"/>\n' %
               (LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT))
    out.append('  <text x="%d" y="%d" text-anchor="middle">%s</text>\n' %
               ((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 14, escape(x_title)))
    out.append('  <text x="%d" y="%d" text-anchor="middle" '
               'transform="rotate(-90 16 %d)">%s</text>\n' %
               (16, (TOP + HEIGHT - BOTTOM) // 2,
                (TOP + HEIGHT - BOTTOM) // 2, escape(y_title)))
    for k, (name, some, dashed) in enumerate(series):
        colour = COLOURS[k % len(COLOURS)]
        path = " ".join("%.1f,%.1f" % (x.at(a), y.at(b)) for a, b in some)
        wide = 2.0 + 1.3 * (len(series) - 1 - k) if nested else 2.2
        out.append('  <polyline class="line" stroke="%s"%s style="'
                   'stroke-width: %.1f" points="%s"/>\n' %
                   (colour, ' stroke-dasharray="6 4"' if dashed else "",
                    wide, path))
        if not dashed and not nested:
            for a, b in some:
                out.append('  <circle cx="%.1f" cy="%.1f" r="2.6" '
                           'fill="%s"/>\n' % (x.at(a), y.at(b), colour))
    out.extend(legend(series))
    out.append("</svg>\n")
    return "".join(out)


def legend(series):
    """Between the title and the plot, one beside the other."""
    out, left = [], LEFT
    for k, (name, _, dashed) in enumerate(series):
        if len(series) < 2:
            break
        out.append('  <path class="line" stroke="%s"%s d="M%.0f 40h22"/>\n' %
                   (COLOURS[k % len(COLOURS)],
                    ' stroke-dasharray="6 4"' if dashed else "", left))
        out.append('  <text x="%.0f" y="44">%s</text>\n' %
                   (left + 28, escape(name)))
        left += 28 + 7.1 * len(name) + 18
    return out


def bars(title, x_title, rows, x_log=False, left=230, base=None):
    """`rows`: (name, value, label, kind), one under the other; the kinds have
    a colour each.  With a base, a ratio that means "alike": bars begin there,
    to either side, on an axis of powers of 2."""
    top = 40
    height = top + 26 * len(rows) + BOTTOM
    values = [value for _, value, _, _ in rows]
    low = 10 ** math.floor(math.log10(min(values))) if x_log else 0
    if base:
        x_log, low = True, 2.0 ** math.floor(math.log2(min(values + [base])))
    x = Axis(low, max(values) * (1.6 if x_log else 1.1), left,
             WIDTH - RIGHT - 50, x_log)
    begin = x.at(base) if base else left
    kinds = []
    out = frame(title, height)
    for tick in x.ticks:
        out.append('  <path class="grid" d="M%.1f %dV%d"/>\n' %
                   (x.at(tick), top, height - BOTTOM))
        out.append('  <text x="%.1f" y="%d" text-anchor="middle">%s</text>\n'
                   % (x.at(tick), height - BOTTOM + 18, text_of(tick)))
    for k, (name, value, label, kind) in enumerate(rows):
        if kind not in kinds:
            kinds.append(kind)
        y = top + 26 * k
        out.append('  <text x="%d" y="%d" text-anchor="end">%s</text>\n' %
                   (left - 8, y + 17, escape(name)))
        out.append('  <rect x="%d" y="%d" width="%.1f" height="18" '
                   'fill="%s"/>\n' % (min(begin, x.at(value)), y + 4,
                                      max(abs(x.at(value) - begin), 1),
                                      COLOURS[kinds.index(kind) %
                                              len(COLOURS)]))
        out.append('  <text x="%.1f" y="%d">%s</text>\n' %
                   (max(begin, x.at(value)) + 6, y + 17, escape(label)))
    if base:
        out.append('  <path class="axis" d="M%.1f %dV%d"/>\n' %
                   (begin, top, height - BOTTOM))
    out.append('  <path class="axis" d="M%d %dV%dH%d"/>\n' %
               (left, height - BOTTOM if base else top, height - BOTTOM,
                WIDTH - RIGHT))
    out.append('  <text x="%d" y="%d" text-anchor="middle">%s</text>\n' %
               ((left + WIDTH - RIGHT) // 2, height - 14, escape(x_title)))
    out.append("</svg>\n")
    return "".join(out)
