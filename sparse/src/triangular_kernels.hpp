// Triangular solves on devices. The entry point, which has checked shapes, executors and addresses, is the host's too.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/triangular.hpp>

#include "host/triangle.hpp"

namespace trn::sparse {

struct TriangularPlanArgs {
  Csr<float> triangle;  // op(A) on the host
  bool lower, unit;
  std::int64_t columns;
  bool solvable;  // otherwise X becomes NaN
};
struct TriangularMade {
  TriangularReport report;
  std::shared_ptr<const void> state;
};
struct TriangularSolveArgs {
  const void* state;
  float alpha;
  MatrixView<const float> b;
  float beta;
  MatrixView<float> x;
  bool in_place;
};
namespace device {
TriangularMade plan_triangular(const Executor& executor, const TriangularPlanArgs& args);
void solve_triangular(const Executor& executor, const TriangularSolveArgs& args);
}  // namespace device
inline constexpr KernelTable<TriangularPlanArgs, TriangularMade> kTriangularPlan{"sparse.triangular.plan", nullptr,
                                                                                 device::plan_triangular};
inline constexpr KernelTable<TriangularSolveArgs> kTriangularSolve{"sparse.triangular.solve", nullptr,
                                                                   device::solve_triangular};

namespace detail {
template <Scalar T> struct TriangularData {
  host::Triangle<T> triangle;
  Array<T> work;
  TriangularReport report = {};
  std::shared_ptr<const void> state = {};  // devices
};
}  // namespace detail

}  // namespace trn::sparse
