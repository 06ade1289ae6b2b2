// Operands on a device: see operands.hpp.
#include "device/operands.hpp"

#include <cmath>

#include <trn/solver/operand_program.hpp>
#include <trn/tile/launch.hpp>

namespace trn::solver::device {

namespace {
constexpr MatrixPart part_of(Part part) {
  return part == Part::All ? MatrixPart::All : part == Part::Lower ? MatrixPart::Lower : MatrixPart::Upper;
}
}  // namespace

Outcome finite(const Executor& executor, const MatrixView<const float>& a, Part part) {
  if (a.rows() == 0 || a.columns() == 0) return {};
  const Array<float> flags(executor, {tile::device_of(executor).machine().partitions});
  tile::launch(executor, finite_program,
               FiniteShape{a.rows(), a.columns(), a.row_stride(), a.column_stride(), part_of(part)},
               {{"a", a.data()}, {"flags", flags.data()}});
  for (const float flag : flags.to_host()) {
    if (std::isnan(flag)) return host::finite(on_host(a).view(), part);  // where it is
  }
  return {};
}

void copy_triangle(const Executor& executor, const MatrixView<const float>& a, Uplo uplo, const MatrixView<float>& b,
                   bool zeros) {
  if (a.rows() == 0) return;
  tile::launch(executor, copy_triangle_program,
               CopyTriangleShape{a.rows(), a.row_stride(), a.column_stride(), b.row_stride(), b.column_stride(),
                                 uplo == Uplo::Lower, zeros},
               {{"a", a.data()}, {"b_in", b.data()}, {"b", b.data()}});
}
}  // namespace trn::solver::device
