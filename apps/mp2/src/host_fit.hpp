// The fit on the host in plain float64: the same B as fit.hpp's, by the shortest way. Fitting functions are taken with
// low angular momentum first, which the rows of B's panels then follow; no energy depends on their order.
#pragma once

#include "fit.hpp"

namespace trn::mp2 {

// Bytes besides the store; a store that is a file needs a panel for every thread.
[[nodiscard]] std::int64_t host_fit_bytes(const FitInput& input, bool in_memory);

FitResult host_fit(const FitInput& input, PanelStore<double>& store, std::vector<Stage>& stages);

}  // namespace trn::mp2
