// The curves of `trnsci scale` as one HTML page without scripts: time and efficiency over chips, both axes in octaves.
#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>

#include "output.hpp"
#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 70, kBottom = 40, kTop = 14;

struct Axis {
  double low, high;  // exponents of two
  [[nodiscard]] double at(double value, double from, double to) const {
    return from + (std::log2(value) - low) / std::max(1e-9, high - low) * (to - from);
  }
};

std::string line(const Curve& curve, const Axis& x, const Axis& y, bool one, bool ideal) {
  std::string points;
  for (const CurvePoint& c : curve.points) {
    const double chips = static_cast<double>(c.chips) * c.nodes;
    const double efficiency = one ? c.efficiency_one : c.efficiency;
    const double seconds = one ? c.one.seconds : c.eta.seconds;
    const double value = ideal ? seconds * efficiency : seconds;
    points += fmt::format("{:.1f},{:.1f} ", x.at(chips, kLeft, kWidth - 10), y.at(value, kHeight - kBottom, kTop));
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", ideal ? "ideal" : one ? "one" : "eta", points);
}

std::string picture(const Curve& curve, double eta) {
  Axis x{0, 0}, y{1e9, -1e9};
  for (const CurvePoint& c : curve.points) {
    x.high = std::max(x.high, std::log2(static_cast<double>(c.chips) * c.nodes));
    for (const double v : {c.eta.seconds, c.one.seconds, c.one.seconds * c.efficiency_one}) {
      y.low = std::min(y.low, std::floor(std::log2(v)));
      y.high = std::max(y.high, std::ceil(std::log2(v)));
    }
  }
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"modelled time over chips\">\n",
                                kWidth, kHeight);
  for (double e = x.low; e <= x.high; ++e) {
    const double at = x.at(std::exp2(e), kLeft, kWidth - 10);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n", at,
                       kHeight - kBottom + 16, std::exp2(e));
  }
  const double step = std::max(1.0, std::ceil((y.high - y.low) / 8));
  for (double e = y.low; e <= y.high; e += step) {
    const double at = y.at(std::exp2(e), kHeight - kBottom, kTop);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        kLeft, kWidth - 10, at, kLeft - 6, at + 4, duration(std::exp2(e)));
  }
  svg += line(curve, x, y, true, true) + line(curve, x, y, true, false) + line(curve, x, y, false, false);
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">chips</text></svg>\n",
                     (kLeft + kWidth) / 2, kHeight - 6);
  return fmt::format(
             "<p><b class=\"eta\">eta {:.2f}</b> <b class=\"one\">eta 1</b> <b class=\"ideal\">one chip, "
             "divided</b></p>\n",
             eta) +
         svg;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string table(const Curve& curve, double eta) {
  std::string rows = fmt::format(
      "<table><tr><th>chips</th><th>nodes</th><th>eta {:.2f}</th><th>efficiency</th><th>binding</th><th>eta "
      "1</th><th>efficiency</th></tr>\n",
      eta);
  for (const CurvePoint& c : curve.points) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        c.chips * c.nodes, c.nodes, duration(c.eta.seconds), percent(c.efficiency), c.eta.binding,
                        duration(c.one.seconds), percent(c.efficiency_one));
  }
  return rows + "</table>\n";
}

}  // namespace

void write_page(const std::string& path, const std::string& title, const std::vector<std::string>& lines,
                const std::vector<Curve>& curves, double eta) {
  OutputFile file("--html", path);
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>" +
      escaped(title) +
      "</title>\n<style>\n"
      "body{font:15px/1.45 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 "
      "1rem;color:#222;background:#fff}\n"
      "svg{width:100%;font-size:11px}polyline{fill:none;stroke-width:2}.grid{stroke:#ddd}\n"
      "polyline.eta{stroke:#b5462b}polyline.one{stroke:#2b6ab5}polyline.ideal{stroke:#888;stroke-dasharray:4 4}\n"
      "table{display:block;overflow-x:auto}b.eta{color:#b5462b}b.one{color:#2b6ab5}b.ideal{color:#777}td,th{padding:."
      "1rem .7rem;text-align:right}\n"
      "@media (prefers-color-scheme:dark){body{background:#181818;color:#ddd}svg "
      "text{fill:#ccc}.grid{stroke:#444}}\n</style>\n";
  page += "<h1>" + escaped(title) + "</h1>\n<p>" + escaped(command_line()) + "<br>trnsci " TRN_VERSION "</p>\n";
  for (const std::string& line : lines) page += "<p>" + escaped(line) + "</p>\n";
  page +=
      "<p>Modelled, never measured: nothing here ran on Trainium. eta is the share of the documented rates that "
      "collectives reach.</p>\n";
  for (const Curve& curve : curves)
    page += "<h2>" + escaped(curve.title) + "</h2>\n" + picture(curve, eta) + table(curve, eta);
  file.write(page + "</html>\n");
  file.commit();
}

}  // namespace trn::tools::scale
