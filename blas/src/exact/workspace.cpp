// How much host memory an exact product takes: the sum of what Operand, Product, Finish and the kernels hold at a time.
#include <algorithm>

#include <trn/blas/exactness.hpp>

#include "blocks.hpp"
#include "operand.hpp"

namespace trn::blas {

std::int64_t exact_workspace_bytes(DType in, std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise) {
  constexpr std::int64_t kNumber = sizeof(double), kLimbs = 3;
  const std::int64_t planes = is_complex(in) ? 2 : 1, depth = planes * k;
  const exact::Partition cut(m, n, depth, planes, false);
  const std::int64_t strip = std::min(exact::Partition::kStrip, cut.rows), block = strip * cut.columns;
  const std::int64_t left = planes * depth * kNumber, right = depth * kNumber;  // numbers of a row and of a column
  // Of every row and column: norms as Operand has them, errors of scaling while they are made, and Product's own, three
  // norms and two numbers; exponents, marks and shifts.
  const std::int64_t rows = (m + n) * (5 * static_cast<std::int64_t>(sizeof(exact::Norms)) + 2 * 16 + 16);
  // Limbs of a panel of each, and a panel as it is read: complex elements before and after they are taken apart,
  // float32 before they are widened.
  const std::int64_t reading = planes == 2 ? 2 : 1, narrow = real_of(in) == DType::Float64 ? 0 : 1;
  const std::int64_t panels = kLimbs * (left * cut.rows + right * cut.columns);
  const std::int64_t panel =
      std::min(std::max(left, std::int64_t{1} << 24), std::max(left * m, right * n));  // of for_panels()
  const std::int64_t statistics = (reading + narrow) * panel;
  const std::int64_t read = std::max((reading + narrow) * std::max(left * cut.rows, right * cut.columns), statistics);
  // Numbers of a block's rows and columns while elements are looked at again.
  const std::int64_t again = left * strip + right * cut.columns;
  const std::int64_t certificate =
      componentwise ? 3 * left * strip + 2 * right * cut.columns + planes * block * kNumber : 0;
  // Integers, words of a device, sums of the host, costs of scaling, results, C as it was.
  const std::int64_t integers = block * (planes * 24 + 24 + kNumber),
                     results = block * (16 + 48 + 1 + 4 * planes * kNumber);
  return rows + panels + read + again + certificate + integers + results + (std::int64_t{1} << 16);
}

}  // namespace trn::blas
