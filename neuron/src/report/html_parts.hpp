// The pieces of the report page. Each section is finished HTML made here in C++, so that the page reads without
// scripts; only the timeline needs its script, which draws what timeline_json() embeds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <trn/neuron/report.hpp>
#include <vector>

#include "summary.hpp"

namespace trn::neuron::report {

// How much the page holds, so that it stays below 1 MB whatever the report holds.
struct PageLimits {
  static constexpr std::size_t kDetail = 10'000;    // intervals drawn one by one: the earliest of all lanes
  static constexpr std::size_t kSegments = 20'000;  // merged ones after them, all lanes together
  static constexpr std::size_t kSegmentsPerLane = 3'000;
  static constexpr std::size_t kTextBytes = 200'000;  // instruction texts for the tooltips
  static constexpr std::size_t kOneTextBytes = 400;
  static constexpr std::size_t kOpcodes = 40;  // the rest is one "other"
  static constexpr std::size_t kColours = 8;
};

// The colour class of an opcode by its rank in `uses`: "c0" .. "c7", then "c-other".
[[nodiscard]] std::string colour_class(std::size_t rank);

// html_sections.cpp
[[nodiscard]] std::string headline_html(const RunReport& report, const tile::Machine& machine);
[[nodiscard]] std::string utilisation_html(const RunReport& report);
[[nodiscard]] std::string bytes_html(const RunReport& report, const tile::Machine& machine);
[[nodiscard]] std::string opcodes_html(const RunReport& report, const std::vector<OpcodeUse>& uses);
// html_roofline.cpp
[[nodiscard]] std::string roofline_html(const RunReport& report, const tile::Machine& machine);
// html_timeline.cpp
[[nodiscard]] std::string timeline_json(const RunReport& report, const std::vector<OpcodeUse>& uses);

// html_style.cpp, html_script.cpp
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();

}  // namespace trn::neuron::report
