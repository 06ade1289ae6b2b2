// Validity and the written form of a problem.
#include "problem.hpp"

#include <fmt/format.h>

namespace trn::dropin {

bool Problem::valid() const {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].n < 1) return false;
    if (form != Form::R2R) continue;
    const int kind = static_cast<int>(kinds[i]);
    if (kind < 0 || kind > static_cast<int>(RealKind::RODFT11)) return false;
    if (kinds[i] == RealKind::REDFT00 && axes[i].n < 2) return false;  // its period is 2 (n - 1)
  }
  for (const Axis& b : batch)
    if (b.n < 0) return false;
  return true;
}

std::string Problem::text() const {
  static constexpr const char* kForms[] = {"c2c", "r2c", "c2r", "r2r"};
  std::string line = fmt::format("({} {}{}{}", kForms[static_cast<int>(form)], forward ? "forward" : "backward",
                                 split ? " split" : "", in_place ? " in-place" : "");
  for (const Axis& a : axes) line += fmt::format(" n{}:{}:{}", a.n, a.is, a.os);
  for (const Axis& b : batch) line += fmt::format(" v{}:{}:{}", b.n, b.is, b.os);
  for (const RealKind k : kinds) line += fmt::format(" k{}", static_cast<int>(k));
  return line + ")";
}

}  // namespace trn::dropin
