// The curves of `trnsci scale` in the frame of the report pages: time and efficiency over chips, both axes in octaves.
#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>

#include "output.hpp"
#include "report/format.hpp"
#include "report/page.hpp"
#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

// Lines and words of a curve in its colour.
constexpr const char *kEta = "stroke=\"#d97a1f\"", *kOne = "stroke=\"#2a78d6\"",
                     *kIdeal = "stroke=\"#8a94a3\" stroke-dasharray=\"4 4\"";

constexpr double kWidth = 640, kHeight = 320, kLeft = 92, kRight = 28, kBottom = 50, kTop = 14;

struct Axis {
  double low, high;  // exponents of two
  [[nodiscard]] double at(double value, double from, double to) const {
    return from + (std::log2(value) - low) / std::max(1e-9, high - low) * (to - from);
  }
};

// A time at an axis, in three digits: a phone has no room for more.
std::string tick_text(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}) {
    if (seconds >= unit) return fmt::format("{:.{}f} {}", seconds / unit, seconds < 100 * unit ? 1 : 0, name);
  }
  return fmt::format("{:.0f} ns", seconds * 1e9);
}

std::string line(const Curve& curve, const Axis& x, const Axis& y, bool one, bool ideal) {
  std::string points;
  for (const CurvePoint& c : curve.points) {
    const double chips = static_cast<double>(c.chips) * c.nodes;
    const double efficiency = one ? c.efficiency_one : c.efficiency;
    const double seconds = one ? c.one.seconds : c.eta.seconds;
    const double value = ideal ? seconds * efficiency : seconds;
    points += fmt::format("{:.1f},{:.1f} ", x.at(chips, kLeft, kWidth - kRight), y.at(value, kHeight - kBottom, kTop));
  }
  return fmt::format("<polyline fill=\"none\" stroke-width=\"2\" {} points=\"{}\"/>\n",
                     ideal ? kIdeal
                     : one ? kOne
                           : kEta,
                     points);
}

std::string picture(const Curve& curve, double eta) {
  int node_chips = 0;
  for (const CurvePoint& c : curve.points) node_chips = std::max(node_chips, c.chips);
  Axis x{0, 0}, y{1e9, -1e9};
  for (const CurvePoint& c : curve.points) {
    x.high = std::max(x.high, std::log2(static_cast<double>(c.chips) * c.nodes));
    for (const double v : {c.eta.seconds, c.one.seconds, c.one.seconds * c.efficiency_one}) {
      y.low = std::min(y.low, std::floor(std::log2(v)));
      y.high = std::max(y.high, std::ceil(std::log2(v)));
    }
  }
  std::string svg =
      fmt::format("<svg class=\"figure\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"modelled time over chips\">\n",
                  kWidth, kHeight);
  for (double e = x.low; e <= x.high; ++e) {
    const double at = x.at(std::exp2(e), kLeft, kWidth - kRight);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n", at,
                       kHeight - kBottom + 20, std::exp2(e));
  }
  const double step = std::max(1.0, std::ceil((y.high - y.low) / 8));
  for (double e = y.low; e <= y.high; e += step) {
    const double at = y.at(std::exp2(e), kHeight - kBottom, kTop);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick\" x=\"{3}\" "
        "y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        kLeft, kWidth - kRight, at, kLeft - 6, at + 4, tick_text(std::exp2(e)));
  }
  svg += line(curve, x, y, true, true) + line(curve, x, y, true, false) + line(curve, x, y, false, false);
  svg += fmt::format("<text class=\"tick\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">chips</text></svg>\n",
                     (kLeft + kWidth) / 2, kHeight - 6);
  return fmt::format(
             "<p class=\"note\"><b style=\"color:#d97a1f\">eta {:.2f}</b>, <b style=\"color:#2a78d6\">eta 1</b>, "
             "dashed: "
             "one chip's time, divided. A node has {} chips.</p>\n",
             eta, node_chips) +
         svg;
}

neuron::PageTable table(const Curve& curve, double eta) {
  neuron::PageTable t{
      "", "", {{"chips", fmt::format("eta {:.2f}", eta), "efficiency", "binding", "eta 1", "efficiency"}}};
  for (const CurvePoint& c : curve.points) {
    t.rows.push_back({fmt::format("{}", c.chips * c.nodes), duration(c.eta.seconds), percent(c.efficiency),
                      c.eta.binding, duration(c.one.seconds), percent(c.efficiency_one)});
  }
  return t;
}

}  // namespace

void write_page(const std::string& path, const std::string& title, const Facts& facts,
                const std::vector<std::string>& lines, const std::vector<Curve>& curves, double eta) {
  using neuron::report::html_escaped;
  OutputFile file("--html", path);
  file.write(neuron::report::page_begin(title, facts));
  file.write(
      "<p class=\"part\"><span class=\"badge\">MODELLED</span> Never measured: nothing here ran on Trainium. eta is "
      "the "
      "share of the documented rates that collectives reach.</p>\n");
  for (const std::string& line : lines) file.write("<p class=\"part\">" + html_escaped(line) + "</p>\n");
  for (const Curve& curve : curves) {
    std::string heading = curve.title;
    heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
    file.write("<section class=\"card\"><h2>" + html_escaped(heading) + "</h2>\n" + picture(curve, eta) +
               neuron::report::plain_table_html(table(curve, eta)) + "</section>\n");
  }
  file.write(neuron::report::page_end());
  file.commit();
}

}  // namespace trn::tools::scale
