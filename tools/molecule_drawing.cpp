// Pictures of a molecule and of its SCF: see molecule_drawing.hpp.
#include "molecule_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <trn/mp2/element.hpp>

namespace trn::tools {

namespace {

using Vector = std::array<double, 3>;

// Covalent radii in angstrom (Cordero et al. 2008) and the usual colours, H to Ar.
constexpr double kRadii[] = {0.31, 0.28, 1.28, 0.96, 0.84, 0.76, 0.71, 0.66, 0.57,
                             0.58, 1.66, 1.41, 1.21, 1.11, 1.07, 1.05, 1.02, 1.06};
constexpr const char* kColours[] = {"#f4f4f4", "#d9ffff", "#cc80ff", "#c2ff00", "#ffb5b5", "#707070",
                                    "#3f63f0", "#e6251c", "#90e050", "#b3e3f5", "#ab5cf2", "#8aff00",
                                    "#bfa6a6", "#f0c8a0", "#ff8000", "#e8d21f", "#1ff01f", "#80d1e3"};

double radius(int number) { return kRadii[static_cast<std::size_t>(std::clamp(number, 1, 18) - 1)]; }
const char* colour(int number) { return kColours[static_cast<std::size_t>(std::clamp(number, 1, 18) - 1)]; }

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The direction in which a symmetric positive matrix is largest, at right angles to `before`: power iteration.
Vector largest(const std::array<Vector, 3>& m, const std::vector<Vector>& before) {
  Vector v{0.9, 0.31, 0.3};
  for (int i = 0; i < 200; ++i) {
    Vector next{};
    for (std::size_t r = 0; r < 3; ++r) next[r] = dot(m[r], v) + 1e-9 * v[r];  // also where the matrix vanishes
    for (const Vector& b : before) {
      const double part = dot(next, b);
      for (std::size_t r = 0; r < 3; ++r) next[r] -= part * b[r];
    }
    const double norm = std::sqrt(dot(next, next));
    if (!(norm > 0)) {  // v was along `before`
      v = {v[2], v[0], v[1]};
      continue;
    }
    for (std::size_t r = 0; r < 3; ++r) v[r] = next[r] / norm;
  }
  return v;
}

}  // namespace

std::string molecule_svg(const mp2::Molecule& molecule) {
  // Axes of the spread of the atoms: the largest to the right, the next upwards.
  Vector centre{};
  const auto count = static_cast<double>(molecule.atoms.size());
  for (const mp2::Atom& a : molecule.atoms)
    for (std::size_t i = 0; i < 3; ++i) centre[i] += a.position[i] / count;
  std::array<Vector, 3> spread{};
  for (const mp2::Atom& a : molecule.atoms)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) spread[i][j] += (a.position[i] - centre[i]) * (a.position[j] - centre[j]);
  const Vector right = largest(spread, {}), up = largest(spread, {right});
  const Vector near{right[1] * up[2] - right[2] * up[1], right[2] * up[0] - right[0] * up[2],
                    right[0] * up[1] - right[1] * up[0]};
  struct Place {
    double x, y, depth, r;  // angstrom
    int number;
    bool ghost;
    Vector position;
  };
  std::vector<Place> places;
  for (const mp2::Atom& a : molecule.atoms) {
    Vector p;
    for (std::size_t i = 0; i < 3; ++i) p[i] = (a.position[i] - centre[i]) * mp2::kBohrInAngstrom;
    places.push_back({dot(p, right), -dot(p, up), dot(p, near), 0.22 + 0.28 * radius(a.number), a.number, a.ghost, p});
  }
  double left = 0, top = 0, end = 0, bottom = 0;
  for (const Place& p : places) {
    left = std::min(left, p.x - p.r), end = std::max(end, p.x + p.r);
    top = std::min(top, p.y - p.r), bottom = std::max(bottom, p.y + p.r);
  }
  constexpr double kScale = 140, kMargin = 12, kWidest = 640, kHighest = 320;  // pixels of an angstrom at most
  const double scale =
      std::min({kScale, (kWidest - 2 * kMargin) / (end - left), (kHighest - 2 * kMargin) / (bottom - top)});
  const double width = (end - left) * scale + 2 * kMargin, height = (bottom - top) * scale + 2 * kMargin;
  const auto x = [&](const Place& p) { return (p.x - left) * scale + kMargin; };
  const auto y = [&](const Place& p) { return (p.y - top) * scale + kMargin; };
  std::string svg = fmt::format(
      "<svg class=\"drawing\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"Drawing of the molecule\">\n",
      width, height);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Place &a = places[i], &b = places[j];
      if (a.ghost || b.ghost) continue;
      Vector d;
      for (std::size_t r = 0; r < 3; ++r) d[r] = a.position[r] - b.position[r];
      if (std::sqrt(dot(d, d)) > 1.3 * (radius(a.number) + radius(b.number))) continue;
      svg += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#8a94a3\" stroke-width=\"{:.1f}\" "
          "stroke-linecap=\"round\"/>\n",
          x(a), y(a), x(b), y(b), 0.13 * scale);
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.depth < b.depth; });
  for (const Place& p : places) {
    svg += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"{2:.1f}\" fill=\"{3}\" stroke=\"#333\"{7}/><text x=\"{0:.1f}\" "
        "y=\"{1:.1f}\" dy=\"0.35em\" text-anchor=\"middle\" font-size=\"{4:.1f}\" font-weight=\"600\" "
        "fill=\"{5}\">{6}</text>\n",
        x(p), y(p), p.r * scale, p.ghost ? "none" : colour(p.number), 0.9 * p.r * scale,
        !p.ghost && p.number >= 6 && p.number <= 8 ? "#fff" : "#111", mp2::symbol(p.number),
        p.ghost ? " stroke-dasharray=\"3 3\"" : "");
  }
  return svg + "</svg>\n";
}

std::string convergence_svg(const std::vector<mp2::ScfIteration>& iterations, const mp2::ScfOptions& limits) {
  if (iterations.size() < 2) return "";
  constexpr double kWidth = 640, kHeight = 340, kLeft = 70, kRight = 16, kTop = 14, kBottom = 50;
  double low = std::min(limits.energy_change, limits.commutator), high = 1;
  const auto size = [](double v) { return std::max(std::abs(v), 1e-16); };
  for (const mp2::ScfIteration& s : iterations) {
    low = std::min({low, s.number > 1 ? size(s.change) : low, size(s.commutator)});
    high = std::max({high, s.number > 1 ? size(s.change) : high, size(s.commutator)});
  }
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const auto y = [&](double v) {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (std::log10(size(v)) - first) / (last - first);
  };
  const double n = iterations.back().number;
  const auto x = [&](int i) { return kLeft + (kWidth - kLeft - kRight) * (i - 1) / std::max(1.0, n - 1); };
  std::string svg =
      fmt::format("<svg class=\"figure\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Convergence of the SCF\">\n",
                  kWidth, kHeight);
  for (double e = first; e <= last; e += last - first > 8 ? 2 : 1) {
    const double at = y(std::pow(10, e));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick\" "
        "text-anchor=\"end\" x=\"{3}\" y=\"{4:.1f}\">1e{5:.0f}</text>\n",
        kLeft, kWidth - kRight, at, kLeft - 6, at + 4, e);
  }
  const int step = std::max(1, static_cast<int>(n) / 12);
  for (int i = 1; i <= static_cast<int>(n); i += step) {
    svg += fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x(i),
                       kHeight - kBottom + 20, i);
  }
  const auto curve = [&](const char* colour, auto value, int from) {
    std::string points, dots;
    for (const mp2::ScfIteration& s : iterations) {
      if (s.number < from) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(s.number), y(value(s)));
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{:.1e}</title></circle>",
                          x(s.number), y(value(s)), colour, value(s));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>{}\n", points, colour,
                       dots);
  };
  const auto limit = [&](const char* colour, double at) {
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-dasharray=\"4 4\"/>\n", kLeft,
        kWidth - kRight, y(at), colour);
  };
  limit("#2a78d6", limits.energy_change);
  limit("#d97a1f", limits.commutator);
  curve(
      "#2a78d6", [](const mp2::ScfIteration& s) { return std::abs(s.change); }, 2);
  curve(
      "#d97a1f", [](const mp2::ScfIteration& s) { return s.commutator; }, 1);
  return svg +
         fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">iteration</text></svg>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 6);
}

}  // namespace trn::tools
