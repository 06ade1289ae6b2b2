// Names and parsing of precisions.
#include <trn/core/precision.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include <trn/core/error.hpp>

namespace trn {
namespace {

constexpr std::array kModes{Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact};
constexpr std::array<std::string_view, kModes.size()> kNames{"native", "tf32", "bf16", "tf32x3", "bf16x6", "exact"};
constexpr std::string_view kTarget = "target=";

}  // namespace

std::string_view name(Mode mode) {
  const auto i = static_cast<std::size_t>(mode);
  require(i < kNames.size(), "precision: {} is not one of the {} modes", i, kNames.size());
  return kNames[i];
}

std::span<const Mode> all_modes() { return kModes; }

Precision Precision::target(double error) {
  require(error > 0 && error < 1, "precision: target error {}; it must lie between 0 and 1", error);
  Precision precision;
  precision.target_ = error;
  return precision;
}

Precision Precision::parse(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return kModes[i];
  }
  if (text.starts_with(kTarget)) {
    const std::string number(text.substr(kTarget.size()));
    char* end = nullptr;
    const double error = std::strtod(number.c_str(), &end);
    if (!number.empty() && *end == 0) return target(error);
  }
  fail<InvalidArgument>("precision: '{}' is none of native, tf32, bf16, tf32x3, bf16x6, exact, target=ERROR", text);
}

}  // namespace trn
