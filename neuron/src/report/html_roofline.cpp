// The roofline as inline SVG, log-log. A run that does I flop per HBM byte can reach at most min(peak, bandwidth * I);
// the page draws that for two bandwidths, what HBM gives a core and what the DMA engines can carry, and two or three
// peaks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "format.hpp"
#include "html_parts.hpp"

namespace trn::neuron::report {

namespace {

struct Range {
  double low, high;  // the low end is a power of ten
};

// Decades to pixels.
struct Axes {
  static constexpr double kWidth = 640, kHeight = 380, kLeft = 92, kRight = 24, kTop = 18, kBottom = 50;
  Range intensity, rate;
  [[nodiscard]] double x(double v) const {
    return kLeft +
           (kWidth - kLeft - kRight) * std::log10(v / intensity.low) / std::log10(intensity.high / intensity.low);
  }
  [[nodiscard]] double y(double v) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * std::log10(v / rate.low) / std::log10(rate.high / rate.low);
  }
};

double decade_below(double v) { return std::pow(10, std::floor(std::log10(v))); }

struct Roof {
  std::string label;
  double flops;
};

std::vector<Roof> compute_roofs(const RunReport& report, const tile::Machine& machine) {
  std::vector<Roof> roofs{{"bf16", machine.tensor_flops(DType::BFloat16)},
                          {"fp32", machine.tensor_flops(DType::Float32)}};
  const double peak = report.tensor_peak_flops;
  const bool known = std::ranges::any_of(roofs, [&](const Roof& r) { return std::abs(r.flops - peak) <= 1e-6 * peak; });
  if (!known && peak > 0) roofs.push_back({"this run's dtype", peak});
  return roofs;
}

std::string grid(const Axes& axes) {
  std::string svg;
  for (double v = axes.intensity.low; v <= axes.intensity.high * 1.001; v *= 10) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"middle\" x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
        axes.x(v), Axes::kTop, Axes::kHeight - Axes::kBottom, Axes::kHeight - Axes::kBottom + 20,
        v < 1 ? number_text(v) : grouped(std::llround(v)));
  }
  for (double v = axes.rate.low; v <= axes.rate.high * 1.001; v *= 10) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
        Axes::kLeft, Axes::kWidth - Axes::kRight, axes.y(v), Axes::kLeft - 6, axes.y(v) + 4, flop_rate_text(v));
  }
  return svg + fmt::format(
                   "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">arithmetic intensity, matmul "
                   "flop per HBM byte</text>\n",
                   (Axes::kLeft + Axes::kWidth - Axes::kRight) / 2, Axes::kHeight - 6);
}

// A bandwidth is a line of slope one; its label runs along it, `shift` heights of the letters below, which are larger
// on a phone.
std::string memory_roof(const Axes& axes, std::string_view label, double bandwidth, double top, double shift) {
  const double begin = std::max(axes.intensity.low, axes.rate.low / bandwidth);
  const double x1 = axes.x(begin), y1 = axes.y(begin * bandwidth), x2 = axes.x(top / bandwidth), y2 = axes.y(top);
  const double angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::acos(-1.0);
  return fmt::format(
      "<line class=\"roof\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
      "<text class=\"name\" transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\" x=\"14\" dy=\"{}em\">{} {}</text>\n",
      x1, y1, x2, y2, x1, y1, angle, shift, label, byte_rate_text(bandwidth));
}

std::string compute_roof(const Axes& axes, const Roof& roof, double bandwidth, bool of_this_run) {
  return fmt::format(
      "<line class=\"roof{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
      "<text class=\"name\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
      of_this_run ? " mine" : "", axes.x(std::max(axes.intensity.low, roof.flops / bandwidth)), axes.y(roof.flops),
      Axes::kWidth - Axes::kRight, axes.y(roof.flops), Axes::kWidth - Axes::kRight - 4, axes.y(roof.flops) - 6,
      roof.label, flop_rate_text(roof.flops));
}

std::string point(const Axes& axes, double intensity, double rate, double roof) {
  const double x = axes.x(intensity), y = axes.y(rate);
  const bool label_left = x > 0.5 * Axes::kWidth;  // names of roofs stand at the right
  return fmt::format(
      "<line class=\"drop\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
      "<circle class=\"point\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"6\"><title>{3} at {4} flop/B</title></circle>"
      "<text class=\"mark\" text-anchor=\"{5}\" x=\"{6:.1f}\" y=\"{7:.1f}\">this run, {3}</text>\n",
      x, y, axes.y(roof), flop_rate_text(rate), number_text(intensity), label_left ? "end" : "start",
      x + (label_left ? -12 : 12), y + 20);
}

}  // namespace

std::string roofline_html(const RunReport& report, const tile::Machine& machine) {
  const double bytes = static_cast<double>(report.hbm_read_bytes) + static_cast<double>(report.hbm_write_bytes);
  const bool has_point = report.matmul_flops > 0 && bytes > 0 && report.seconds > 0;
  const double hbm = machine.hbm_bytes_per_s_per_core, dma = machine.dma_bytes_per_s();
  // Without a point the axes still need a place to look at.
  const double intensity = has_point ? report.matmul_flops / bytes : 10;
  const double rate = has_point ? report.matmul_flops / report.seconds : dma * intensity;
  const double roof = std::min(report.tensor_peak_flops, std::min(hbm, dma) * intensity);

  const std::vector<Roof> roofs = compute_roofs(report, machine);
  const double top = std::ranges::max(roofs, {}, &Roof::flops).flops;
  Axes axes{
      {std::min(1.0, decade_below(intensity / 1.5)), std::max({1e4, 10 * top / std::min(hbm, dma), 3 * intensity})},
      {0, 2.5 * std::max(top, rate)}};
  axes.rate.low = decade_below(std::min(dma * axes.intensity.low, rate / 1.5));

  std::string html = "<section class=\"card\"><h2>Roofline</h2>";
  html += has_point
              ? fmt::format("<p class=\"note\">{} flop/B: the roof above this run is {}; it reaches {} of it.</p>\n",
                            number_text(intensity), flop_rate_text(roof), percent_text(roof > 0 ? rate / roof : 0))
              : std::string("<p class=\"note\">A run without matmul flops or HBM bytes has no point here.</p>\n");
  html += fmt::format("<svg class=\"roofline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Roofline plot\">\n",
                      Axes::kWidth, Axes::kHeight);
  html += grid(axes);
  html += memory_roof(axes, "HBM", hbm, top, -0.5) + memory_roof(axes, "DMA", dma, top, 1.2);
  for (const Roof& r : roofs) {
    html += compute_roof(axes, r, std::max(hbm, dma), std::abs(r.flops - report.tensor_peak_flops) <= 1e-6 * r.flops);
  }
  if (has_point) html += point(axes, intensity, rate, roof);
  return html + "</svg></section>\n";
}

}  // namespace trn::neuron::report
