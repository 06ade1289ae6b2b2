// Timelines of the flagship kernels as one SVG.
#include "evidence_timeline.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace trn::tools {

void Timeline::add(const neuron::RunReport& report) {
  std::array<std::vector<std::pair<double, double>>, kLanes> found;
  for (const neuron::Interval& i : report.intervals)
    found[static_cast<std::size_t>(std::min(i.lane, kLanes - 1))].emplace_back(i.begin_s, i.end_s);
  for (std::size_t lane = 0; lane < found.size(); ++lane) {
    std::sort(found[lane].begin(), found[lane].end());
    auto& all = busy_[lane];
    const std::size_t first = all.size();
    for (const auto& [begin, end] : found[lane]) {
      const double from = seconds_ + begin, to = seconds_ + end;
      if (all.size() > first && from <= all.back().second)
        all.back().second = std::max(all.back().second, to);
      else
        all.emplace_back(from, to);
    }
  }
  seconds_ += report.seconds;
}

std::array<std::array<double, Timeline::kPieces>, Timeline::kLanes> Timeline::shares() const {
  std::array<std::array<double, kPieces>, kLanes> shares{};
  if (seconds_ <= 0) return shares;
  const double scale = kPieces / seconds_;
  for (std::size_t lane = 0; lane < busy_.size(); ++lane) {
    for (const auto& [begin, end] : busy_[lane]) {
      const double from = begin * scale, to = std::min<double>(end * scale, kPieces);
      for (auto piece = static_cast<std::size_t>(from); piece < kPieces && static_cast<double>(piece) < to; ++piece) {
        const auto left = static_cast<double>(piece);
        shares[lane][piece] += std::min(to, left + 1) - std::max(from, left);
      }
    }
  }
  return shares;
}

// Neighbours of equal shade, in sixteenths, are one rectangle.
std::string timeline_picture(const std::vector<std::pair<std::string, const Timeline*>>& kernels,
                             const std::string& machine) {
  constexpr int kLeft = 76, kLane = 11, kTop = 20, kGap = 34;
  constexpr const char* kColours[Timeline::kLanes] = {"#08519c", "#d94801", "#238b45", "#6a51a3", "#525252"};
  const int panel = Timeline::kLanes * kLane + kGap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"10\">\n"
      "<title>When the engines work, modelled on {}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kLeft + Timeline::kPieces + 14, kTop + panel * static_cast<int>(kernels.size()), machine);
  int top = kTop;
  for (const auto& [name, timeline] : kernels) {
    const double seconds = timeline->seconds();
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>\n", kLeft, top - 4, name);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.3g} {}</text>\n", kLeft + Timeline::kPieces,
                       top - 4, seconds < 1e-3 ? seconds * 1e6 : seconds * 1e3, seconds < 1e-3 ? "us" : "ms");
    const auto shares = timeline->shares();
    for (int lane = 0; lane < Timeline::kLanes; ++lane) {
      const int y = top + lane * kLane;
      svg += fmt::format(
          "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>"
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f2f2f2\"/>\n",
          kLeft - 6, y + 8, Timeline::kNames[lane], kLeft, y, Timeline::kPieces, kLane - 2);
      const auto& row = shares[static_cast<std::size_t>(lane)];
      const auto shade = [&](int piece) {
        return static_cast<int>(row[static_cast<std::size_t>(piece)] * 15.999 +
                                (row[static_cast<std::size_t>(piece)] > 0));
      };
      for (int piece = 0; piece < Timeline::kPieces;) {
        int end = piece + 1;
        while (end < Timeline::kPieces && shade(end) == shade(piece)) ++end;
        if (shade(piece) > 0)
          svg +=
              fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" opacity=\"{:.2f}\"/>\n",
                          kLeft + piece, y, end - piece, kLane - 2, kColours[lane], std::min(1.0, shade(piece) / 16.0));
        piece = end;
      }
    }
    top += panel;
  }
  return svg + "</svg>\n";
}

}  // namespace trn::tools
