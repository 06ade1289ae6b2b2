// Precision Exact: the door of its kernels.
#include "exact.hpp"

namespace trn::blas {

Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const std::optional<MatrixView<double>>&, double target) {
  if (target > 0) {
    fail<NotImplemented>("{}: no mode for {} on '{}' has a bound of {}; ask for a larger error", operation, name(g.in), executor.name(), target);
  }
  fail<NotImplemented>("{}: precision 'exact' has no kernel for {} on '{}'", operation, name(g.in), executor.name());
}

}  // namespace trn::blas
