// getrf on a distributed matrix: panel after panel in the layout of whole columns.
#include <trn/solver/dist_lu.hpp>

#include <numeric>

#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/lu.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "dist/arguments.hpp"
#include "dist/columns.hpp"
#include "dist/ordered_trsm.hpp"

namespace trn::solver {

namespace {

constexpr const char *kGetrfName = "solver.getrf", *kGetrsName = "solver.getrs";

void require_host(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host)
    fail<NotImplemented>("{}: distributed LU has no kernel for '{}'; use ranks of the host", operation,
                         executor.name());
}

// Rows i and p of the columns [begin, end) of a part.
template <class T>
void exchange(const MatrixView<T>& x, std::int64_t i, std::int64_t p, std::int64_t begin, std::int64_t end) {
  if (i == p) return;
  T* data = x.data();
  for (std::int64_t j = begin; j < end; ++j)
    std::swap(data[i * x.row_stride() + j * x.column_stride()], data[p * x.row_stride() + j * x.column_stride()]);
}

}  // namespace

template <Scalar T> DistPivots getrf(const dist::Matrix<T>& a, const FactorOptions& options) {
  dist_checks::same(kGetrfName, {static_cast<std::int64_t>(options.precision.mode())}, a);
  checks::native(kGetrfName, options.precision);
  require_host(kGetrfName, a.executor());
  const std::int64_t m = a.rows(), n = a.columns(), order = std::min(m, n), block = a.distribution().column_block;
  DistPivots result{report_of<T>({}, order, "lu"), std::vector<std::int64_t>(static_cast<std::size_t>(order))};
  if (order == 0) return result;
  const Columns<T> columns(a, block);
  const MatrixView<T> part = columns.local();
  const Executor& host = a.executor();
  comm::Agreement agreement(a.group());
  const trn::Array<T> buffer = room<T>(agreement, host, m * std::min(block, order));
  Outcome outcome;
  for (std::int64_t k = 0; k * block < order; ++k) {
    const std::int64_t at = k * block, depth = std::min(block, order - at), high = m - at;
    const int owner = columns.cut().owner(at);
    const MatrixView<T> panel = MatrixView<T>::column_major(host, buffer.data(), high, depth);
    std::vector<std::int64_t> said(static_cast<std::size_t>(depth + 2));
    const std::int64_t mine = columns.before(k);
    if (a.group().rank() == owner) {
      agreement.attempt([&] {
        const MatrixView<T> here = part.block(at, mine, high, depth);
        copy(View<const T>(MatrixView<const T>(here)), View<T>(panel));
        const Report report = getrf(host, panel, VectorView<std::int64_t>(host, said.data(), depth));
        copy(View<const T>(MatrixView<const T>(panel)), View<T>(here));
        said[static_cast<std::size_t>(depth)] = static_cast<std::int64_t>(report.outcome.status);
        said[static_cast<std::size_t>(depth + 1)] = report.outcome.index;
      });
    }
    comm::broadcast(a.group(), owner, View<std::int64_t>(Executor::host(), said.data(), {depth + 2}));
    comm::broadcast(a.group(), owner, View<T>(panel.transposed()));
    const auto status = static_cast<Status>(said[static_cast<std::size_t>(depth)]);
    if (status != Status::Ok && outcome.ok()) {
      const std::int64_t index = said[static_cast<std::size_t>(depth + 1)];
      outcome = {status, index < 0                     ? index
                         : status == Status::NotFinite ? (at + index / depth) * n + at + index % depth
                                                       : at + index};
    }
    // Rows of the other columns. The panel is narrower than its block where m < n: then the block goes on beside it.
    const std::int64_t from = a.group().rank() == owner ? mine + depth : mine, rest = part.columns() - from;
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t pivot = at + said[static_cast<std::size_t>(i)];
      result.pivots[static_cast<std::size_t>(at + i)] = pivot;
      exchange(part, at + i, pivot, 0, mine);
      exchange(part, at + i, pivot, from, part.columns());
    }
    if (outcome.status == Status::NotFinite) break;
    if (rest <= 0) continue;
    agreement.attempt([&] {
      const MatrixView<T> right = part.block(at, from, depth, rest);
      dist_host::solve_left_unit<T>(panel.block(0, 0, depth, depth), right);
      if (high > depth)
        blas::ordered_gemm<T>(host, Op::N, Op::N, T(-1), panel.block(depth, 0, high - depth, depth), right, T(1),
                              part.block(at + depth, from, high - depth, rest));
    });
  }
  agreement.settle();
  columns.store();
  result.report = report_of<T>(outcome, order, "lu");
  if (outcome.status == Status::Singular) result.report.accuracy.bound = a_priori_bound<T>(order);
  return result;
}

template <Scalar T>
Report getrs(Op op, const dist::Matrix<T>& factor, const std::vector<std::int64_t>& pivots, const dist::Matrix<T>& b) {
  std::int64_t hash = static_cast<std::int64_t>(pivots.size());
  for (const std::int64_t p : pivots)
    hash = static_cast<std::int64_t>(static_cast<std::uint64_t>(hash) * 1000003U + static_cast<std::uint64_t>(p));
  dist_checks::same(kGetrsName, {static_cast<std::int64_t>(op), hash}, factor, b);
  checks::enumerators(kGetrsName, op);
  require_host(kGetrsName, b.executor());
  const std::int64_t n = factor.rows();
  require(factor.columns() == n && b.rows() == n && static_cast<std::int64_t>(pivots.size()) == n,
          "{}: the factor is {} x {}, B has {} rows, there are {} pivots; they must be n x n, n and n", kGetrsName, n,
          factor.columns(), b.rows(), pivots.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t p = pivots[static_cast<std::size_t>(i)];
    require(p >= i && p < n, "{}: pivot {} is {}; it must lie in [{}, {})", kGetrsName, i, p, i, n);
  }
  const auto permute = [&] {
    const Columns<T> columns(b, b.distribution().column_block);
    const MatrixView<T> part = columns.local();
    for (std::int64_t s = 0; s < n; ++s) {
      const std::int64_t i = op == Op::N ? s : n - 1 - s;
      exchange(part, i, pivots[static_cast<std::size_t>(i)], 0, part.columns());
    }
    columns.store();
  };
  if (op == Op::N) {
    permute();
    blas::trsm<T>(Side::Left, Uplo::Lower, Op::N, Diag::Unit, T(1), factor, b);
    blas::trsm<T>(Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, T(1), factor, b);
  } else {
    blas::trsm<T>(Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), factor, b);
    blas::trsm<T>(Side::Left, Uplo::Lower, op, Diag::Unit, T(1), factor, b);
    permute();
  }
  return report_of<T>({}, 3 * n, "lu");
}

#define TRN_DIST(T)                                                           \
  template DistPivots getrf<T>(const dist::Matrix<T>&, const FactorOptions&); \
  template Report getrs<T>(Op, const dist::Matrix<T>&, const std::vector<std::int64_t>&, const dist::Matrix<T>&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::solver
