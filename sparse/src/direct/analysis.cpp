// Orders for the direct solvers.
#include "direct/analysis.hpp"

#include <numeric>

#include <trn/core/enumerators.hpp>
#include <trn/sparse/structure.hpp>

namespace trn::sparse::direct {

void check_options(const char* operation, const DirectOptions& options, std::int64_t n) {
  operands::check_enumerator(operation, "Reorder", options.ordering, Reorder::Best);
  require(options.ordering != Reorder::Partition, "{}: a partition is not an elimination order; use another Reorder",
          operation);
  require(options.order.empty() || static_cast<std::int64_t>(options.order.size()) == n,
          "{}: an order of {} for {} columns", operation, options.order.size(), n);
  (void)inverse(options.order);  // throws unless it is a permutation
}

Permutation order_by(const char* operation, const Lists& graph, Reorder reorder) {
  const auto n = static_cast<std::int64_t>(graph.offsets.size()) - 1;
  require(n <= kMostExtent<std::int32_t>, "{}: {} columns; there may be {}", operation, n, kMostExtent<std::int32_t>);
  if (reorder == Reorder::None) {
    Permutation natural(static_cast<std::size_t>(n));
    std::iota(natural.begin(), natural.end(), std::int64_t{0});
    return natural;
  }
  const Pattern<> pattern(detail::Trusted{}, {n, n}, host_array<std::int64_t>(graph.offsets),
                          host_array<std::int32_t>(graph.items));
  return order_of(pattern, reorder);
}

}  // namespace trn::sparse::direct
