// A line chart as SVG, for the longer examples: logarithmic axes (powers of ten or two) or plain ones, a line
// with its name for each series, error bars where a series has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <trn/core/error.hpp>

namespace example {

struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> half_bar{};  // drawn from y - half_bar to y + half_bar
  bool dashed = false;
};

enum class Scale { Linear, Log10, Log2 };

struct Axis {
  std::string title;
  Scale scale = Scale::Linear;
};

namespace detail {

inline double coordinate(double v, Scale scale) {
  return scale == Scale::Linear ? v : scale == Scale::Log10 ? std::log10(v) : std::log2(v);
}

struct Range {
  double low = INFINITY, high = -INFINITY;
  void include(double v, Scale scale) {
    if (scale != Scale::Linear && !(v > 0)) return;
    low = std::min(low, coordinate(v, scale));
    high = std::max(high, coordinate(v, scale));
  }
  // Distance between ticks: a whole number of powers, or 1, 2, 5 times a power of ten.
  [[nodiscard]] double step(Scale scale) const {
    const double rough = std::max((high - low) / 6, 1e-300);
    if (scale != Scale::Linear) return std::max(1.0, std::ceil(rough));
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  }
};

inline std::string label(double tick, Scale scale) {
  if (scale == Scale::Linear) return fmt::format("{:g}", std::round(tick * 1e9) / 1e9 + 0.0);
  const int power = static_cast<int>(std::lround(tick));
  return scale == Scale::Log10     ? fmt::format("1e{}", power)
         : power >= 0 && power < 8 ? fmt::format("{}", 1 << power)
                                   : fmt::format("2^{}", power);
}

inline std::string escaped(const std::string& words) {
  std::string out;
  for (const char c : words) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

}  // namespace detail

inline void draw(const std::string& file, const std::string& title, const Axis& across, const Axis& up,
                 const std::vector<Series>& series) {
  static constexpr const char* kColors[] = {"#2563a8", "#c2571a", "#3b7d4f", "#7a4fa3", "#8a939c", "#b8336a"};
  constexpr double kLeft = 70, kRight = 560, kTop = 56, kBottom = 330;
  detail::Range rx, ry;
  for (const Series& s : series) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      rx.include(s.x[i], across.scale);
      ry.include(s.y[i], up.scale);
      if (!s.half_bar.empty())
        ry.include(s.y[i] - s.half_bar[i], up.scale), ry.include(s.y[i] + s.half_bar[i], up.scale);
    }
  }
  const double dx = rx.step(across.scale), dy = ry.step(up.scale);
  ry.low = std::floor(ry.low / dy) * dy;
  ry.high = std::ceil(ry.high / dy) * dy;
  const auto px = [&](double c) {
    return kLeft + (kRight - kLeft) * (c - rx.low) / std::max(rx.high - rx.low, 1e-300);
  };
  const auto py = [&](double c) {
    return kBottom - (kBottom - kTop) * (c - ry.low) / std::max(ry.high - ry.low, 1e-300);
  };
  std::ofstream svg(file);
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 380\" font-family=\"sans-serif\" "
         "font-size=\"12\" role=\"img\">\n"
      << fmt::format(
             "<title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
             "<text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{0}</text>\n",
             detail::escaped(title));
  for (double t = ry.low; t <= ry.high + 1e-9 * dy; t += dy) {
    svg << fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#d5dbe1\"/>\n", kLeft, kRight,
                       py(t), py(t))
        << fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, py(t) + 4,
                       detail::label(t, up.scale));
  }
  for (double t = std::ceil(rx.low / dx - 1e-9) * dx; t <= rx.high + 1e-9 * dx; t += dx) {
    svg << fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#eef2f6\"/>\n", px(t), px(t),
                       kTop, kBottom)
        << fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", px(t), kBottom + 18,
                       detail::label(t, across.scale));
  }
  double last = -INFINITY;  // labels at the right end do not lie on each other: from top to bottom, 15 apart
  std::vector<std::size_t> order(series.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  const auto end = [&](std::size_t k) { return py(detail::coordinate(series[k].y.back(), up.scale)); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return end(a) < end(b); });
  for (const std::size_t k : order) {
    const Series& s = series[k];
    const char* color = kColors[k % std::size(kColors)];
    std::string points;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (up.scale != Scale::Linear && !(s.y[i] > 0)) continue;
      const double x = px(detail::coordinate(s.x[i], across.scale)), y = py(detail::coordinate(s.y[i], up.scale));
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      if (s.half_bar.empty()) continue;
      const auto clamp = [&](double v) {
        return up.scale != Scale::Linear && !(v > 0) ? kBottom : py(detail::coordinate(v, up.scale));
      };
      svg << fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", x,
                         clamp(s.y[i] - s.half_bar[i]), clamp(s.y[i] + s.half_bar[i]), color);
    }
    svg << fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points, color,
                       s.dashed ? " stroke-dasharray=\"5 4\"" : "");
    last = std::max(end(k), last + 15);
    svg << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", kRight + 8, last + 4, color,
                       detail::escaped(s.name));
  }
  svg << fmt::format("<text x=\"{}\" y=\"368\" text-anchor=\"middle\">{}</text>\n", (kLeft + kRight) / 2,
                     detail::escaped(across.title))
      << fmt::format("<text x=\"16\" y=\"42\" fill=\"#8a939c\">{}</text>\n</svg>\n", detail::escaped(up.title));
  svg.flush();
  if (!svg) throw trn::InvalidArgument(fmt::format("{} cannot be written", file));
}

}  // namespace example
