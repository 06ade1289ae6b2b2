// What the trace and the page both need from a report before they draw it: a check that it is drawable, the opcode
// inside an instruction's text, the intervals in drawing order, and the time each opcode took.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <trn/neuron/report.hpp>
#include <vector>

namespace trn::neuron::report {

// Throws InvalidArgument unless every number is finite and every interval has a lane and does not end before it begins.
void require_drawable(const RunReport& report, std::string_view operation);

// "tensor nc_matmul dst=..." -> "nc_matmul": the first word that is not an engine's name; "instruction" when there is
// none.
[[nodiscard]] std::string_view opcode_of(std::string_view instruction_text);
// "" when the report carries no text for this instruction.
[[nodiscard]] std::string_view text_of(const RunReport& report, std::int32_t instruction);

// Indices into report.intervals by lane, then by begin.
[[nodiscard]] std::vector<std::size_t> by_lane_and_time(const RunReport& report);
[[nodiscard]] bool intervals_were_cut(const RunReport& report);
[[nodiscard]] std::string cut_note(const RunReport& report);  // one sentence; "" when nothing was cut

struct OpcodeUse {
  std::string name;
  std::int64_t count = 0;
  double busy_s = 0;
  std::vector<std::int32_t> lanes;  // ascending
};
// Of the kept intervals; most time first.
[[nodiscard]] std::vector<OpcodeUse> opcode_uses(const RunReport& report);

}  // namespace trn::neuron::report
