// getrf on a distributed matrix: panel after panel in the layout of whole columns. On devices a panel is factored by
// getrf there, rows are moved by DMA, and what lies right of a panel is solved and updated by trnblas's kernels.
#include <trn/solver/dist_lu.hpp>

#include <optional>

#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/lu.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "device/row_exchanges.hpp"
#include "dist/arguments.hpp"
#include "dist/columns.hpp"
#include "dist/ordered_trsm.hpp"
#include "dist/products.hpp"

namespace trn::solver {

namespace {

constexpr const char *kGetrfName = "solver.getrf", *kGetrsName = "solver.getrs";

// Rows i and p of the columns [begin, end) of a part in host memory.
template <class T>
void exchange(const MatrixView<T>& x, std::int64_t i, std::int64_t p, std::int64_t begin, std::int64_t end) {
  if (i == p) return;
  T* data = x.data();
  for (std::int64_t j = begin; j < end; ++j)
    std::swap(data[i * x.row_stride() + j * x.column_stride()], data[p * x.row_stride() + j * x.column_stride()]);
}

// Step k: the panel at row and column `at`, `depth` wide and `high` from there down, begins at local column `mine` on
// its owner; what lies right of it begins at local column `from`.
struct Step {
  std::int64_t at, depth, high, mine, from;
};

// What a rank does with its own columns, on the host.
template <class T> class HostPart {
 public:
  HostPart(const Columns<T>& columns, std::int64_t) : part_(columns.local()) {}
  void begin() {}

  // How a panel lies in its buffer: column-major.
  [[nodiscard]] MatrixView<T> panel(T* buffer, const Step& s) const {
    return MatrixView<T>::column_major(part_.executor(), buffer, s.high, s.depth);
  }
  static View<T> in_order(const MatrixView<T>& panel) { return View<T>(panel.transposed()); }
  Report factor(const Step& s, const MatrixView<T>& panel, std::int64_t* pivots) {
    copy(View<const T>(MatrixView<const T>(part_.block(s.at, s.mine, s.high, s.depth))), View<T>(panel));
    return getrf(part_.executor(), panel, VectorView<std::int64_t>(part_.executor(), pivots, s.depth));
  }
  // The panel into its place, and the rows of the columns beside it.
  void exchange_rows(const Step& s, bool owner, const MatrixView<T>& panel, const std::vector<std::int64_t>& pivots) {
    if (owner) {
      copy(View<const T>(MatrixView<const T>(panel)), View<T>(part_.block(s.at, s.mine, s.high, s.depth)));
    }
    for (std::int64_t i = s.at; i < s.at + s.depth; ++i) {
      exchange(part_, i, pivots[static_cast<std::size_t>(i)], 0, s.mine);
      exchange(part_, i, pivots[static_cast<std::size_t>(i)], s.from, part_.columns());
    }
  }
  void update(const Step& s, const MatrixView<const T>& panel) {
    const std::int64_t rest = part_.columns() - s.from;
    if (rest <= 0) return;
    const MatrixView<T> right = part_.block(s.at, s.from, s.depth, rest);
    dist_host::solve_left_unit<T>(panel.block(0, 0, s.depth, s.depth), right);
    if (s.high > s.depth)
      blas::ordered_gemm<T>(part_.executor(), Op::N, Op::N, T(-1), panel.block(s.depth, 0, s.high - s.depth, s.depth),
                            right, T(1), part_.block(s.at + s.depth, s.from, s.high - s.depth, rest));
  }
  void end() {}
  void say(const comm::Communicator&, Report& report, std::int64_t order, std::int64_t) const {
    if (report.outcome.status == Status::Singular) report.accuracy.bound = a_priori_bound<T>(order);
  }

 private:
  MatrixView<T> part_;
};

// The same on a device.
template <class T> class DevicePart {
 public:
  DevicePart(const Columns<T>& columns, std::int64_t block)
      : executor_(columns.local().executor()), part_(columns.local()), products_(executor_, block) {}
  void begin() { rows_.emplace(kGetrfName, part_); }

  [[nodiscard]] MatrixView<T> panel(T* buffer, const Step& s) const {
    return MatrixView<T>::row_major(executor_, buffer, s.high, s.depth);
  }
  static View<T> in_order(const MatrixView<T>& panel) { return View<T>(panel); }
  Report factor(const Step& s, const MatrixView<T>& panel, std::int64_t* pivots) {
    const MatrixView<const T> own = rows_->view().block(s.at, s.mine, s.high, s.depth);
    copy(View<const T>(own), View<T>(panel));
    const trn::Array<std::int64_t> chosen(executor_, {s.depth});
    const Report report = getrf(executor_, panel, VectorView<std::int64_t>(chosen.view()));
    copy(View<const std::int64_t>(chosen.view()), View<std::int64_t>(Executor::host(), pivots, {s.depth}));
    panel_bound_ = std::max(panel_bound_, report.accuracy.bound);
    return report;
  }
  void exchange_rows(const Step& s, bool owner, const MatrixView<T>& panel, const std::vector<std::int64_t>& pivots) {
    if (rows_->empty()) return;
    // All columns at once; the panel, whose rows are in order already, is brought afterwards.
    rows_->exchange(pivots, s.at, s.depth);
    if (owner)
      copy(View<const T>(MatrixView<const T>(panel)), View<T>(rows_->view().block(s.at, s.mine, s.high, s.depth)));
  }
  void update(const Step& s, const MatrixView<const T>& panel) {
    const std::int64_t rest = part_.columns() - s.from;
    if (rest <= 0) return;
    const MatrixView<T> all = rows_->view(), right = all.block(s.at, s.from, s.depth, rest);
    products_.solve_left_unit(panel.block(0, 0, s.depth, s.depth), right, s.from);
    if (s.high > s.depth)
      products_(Op::N, T(-1), panel.block(s.depth, 0, s.high - s.depth, s.depth), right, T(1),
                all.block(s.at + s.depth, s.from, s.high - s.depth, rest), s.from);
  }
  void end() { rows_->store(); }
  // An element is a sum of products by panels, each with its own error, of a rounding for every panel, and of what its
  // own panel or the solve beside it adds. Collective.
  void say(const comm::Communicator& group, Report& report, std::int64_t, std::int64_t panels) const {
    report.algorithm = device_algorithm<T>("blocked lu, partial pivoting", "blocked lu, strips of panels on the host",
                                           "blocked lu, strips of panels on the host, exact products");
    const double roundings = (blas::ComplexScalar<T> ? 4 : 2) * static_cast<double>(panels) * unit_roundoff_of<T>();
    report.accuracy = {products_.mode(), 1,
                       comm::maximum(group, panel_bound_) + comm::maximum(group, products_.solve_bound()) +
                           comm::maximum(group, products_.product_bound()) + roundings};
  }

 private:
  Executor executor_;
  MatrixView<T> part_;
  std::optional<ByRows<T>> rows_;
  Products<T> products_;
  double panel_bound_ = 0;
};

template <class T, class Part> DistPivots factor(const dist::Matrix<T>& a) {
  const std::int64_t m = a.rows(), n = a.columns(), order = std::min(m, n), block = a.distribution().column_block;
  DistPivots result{report_of<T>({}, order, "lu"), std::vector<std::int64_t>(static_cast<std::size_t>(order))};
  const Columns<T> columns(a, block);
  comm::Agreement agreement(a.group());
  const trn::Array<T> buffer = room<T>(agreement, a.executor(), m * std::min(block, order));
  Part part(columns, block);
  agreement.attempt([&] { part.begin(); });
  agreement.settle();
  Outcome outcome;
  for (std::int64_t k = 0; k * block < order; ++k) {
    const std::int64_t at = k * block, depth = std::min(block, order - at);
    const int owner = columns.cut().owner(at);
    const bool here = a.group().rank() == owner;
    const std::int64_t mine = columns.before(k);
    // The panel is narrower than its block where m < n: then the block goes on beside it.
    const Step step{at, depth, m - at, mine, here ? mine + depth : mine};
    const MatrixView<T> panel = part.panel(buffer.data(), step);
    std::vector<std::int64_t> said(static_cast<std::size_t>(depth + 2));
    if (here) {
      agreement.attempt([&] {
        const Report report = part.factor(step, panel, said.data());
        said[static_cast<std::size_t>(depth)] = static_cast<std::int64_t>(report.outcome.status);
        said[static_cast<std::size_t>(depth + 1)] = report.outcome.index;
      });
    }
    comm::broadcast(a.group(), owner, View<std::int64_t>(Executor::host(), said.data(), {depth + 2}));
    const auto status = static_cast<Status>(said[static_cast<std::size_t>(depth)]);
    if (status != Status::Ok && outcome.ok()) {
      const std::int64_t index = said[static_cast<std::size_t>(depth + 1)];
      outcome = {status, index < 0                     ? index
                         : status == Status::NotFinite ? (at + index / depth) * n + at + index % depth
                                                       : at + index};
    }
    if (outcome.status == Status::NotFinite) break;
    comm::broadcast(a.group(), owner, part.in_order(panel));
    for (std::int64_t i = 0; i < depth; ++i)
      result.pivots[static_cast<std::size_t>(at + i)] = at + said[static_cast<std::size_t>(i)];
    agreement.attempt([&] {
      part.exchange_rows(step, here, panel, result.pivots);
      part.update(step, panel);
    });
  }
  agreement.attempt([&] { part.end(); });
  agreement.settle();
  columns.store();
  result.report = report_of<T>(outcome, order, "lu");
  if (outcome.status != Status::NotFinite) part.say(a.group(), result.report, order, (order + block - 1) / block);
  return result;
}

}  // namespace

template <Scalar T> DistPivots getrf(const dist::Matrix<T>& a, const FactorOptions& options) {
  dist_checks::same(kGetrfName, {static_cast<std::int64_t>(options.precision.mode())}, a);
  checks::native(kGetrfName, a.executor(), dtype_of<T>, options.precision);
  const std::int64_t order = std::min(a.rows(), a.columns());
  if (order == 0) return {report_of<T>({}, order, "lu"), {}};
  return a.executor().family() == Family::Host ? factor<T, HostPart<T>>(a) : factor<T, DevicePart<T>>(a);
}

template <Scalar T>
Report getrs(Op op, const dist::Matrix<T>& factor, const std::vector<std::int64_t>& pivots, const dist::Matrix<T>& b) {
  std::int64_t hash = static_cast<std::int64_t>(pivots.size());
  for (const std::int64_t p : pivots)
    hash = static_cast<std::int64_t>(static_cast<std::uint64_t>(hash) * 1000003U + static_cast<std::uint64_t>(p));
  dist_checks::same(kGetrsName, {static_cast<std::int64_t>(op), hash}, factor, b);
  checks::enumerators(kGetrsName, op);
  const std::int64_t n = factor.rows();
  require(factor.columns() == n && b.rows() == n && static_cast<std::int64_t>(pivots.size()) == n,
          "{}: the factor is {} x {}, B has {} rows, there are {} pivots; they must be n x n, n and n", kGetrsName, n,
          factor.columns(), b.rows(), pivots.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t p = pivots[static_cast<std::size_t>(i)];
    require(p >= i && p < n, "{}: pivot {} is {}; it must lie in [{}, {})", kGetrsName, i, p, i, n);
  }
  dist_checks::apart(kGetrsName, "B", b, "the factor", factor);
  const auto permute = [&] {
    const Columns<T> columns(b, b.distribution().column_block);
    const MatrixView<T> part = columns.local();
    comm::together(b.group(), [&] {
      if (b.executor().family() != Family::Host) {
        const ByRows<T> rows(kGetrsName, part);
        rows.exchange_all(pivots, op != Op::N);
        return rows.store();
      }
      for (std::int64_t s = 0; s < n; ++s) {
        const std::int64_t i = op == Op::N ? s : n - 1 - s;
        exchange(part, i, pivots[static_cast<std::size_t>(i)], 0, part.columns());
      }
    });
    columns.store();
  };
  const bool on_host = b.executor().family() == Family::Host;
  const blas::ProductOptions options{Products<T>(b.executor(), 1).mode()};
  double solved = 0;
  const auto solve = [&](Uplo uplo, Diag diag) {
    solved += blas::trsm<T>(Side::Left, uplo, op, diag, T(1), factor, b, options).bound;
  };
  if (op == Op::N) {
    permute();
    solve(Uplo::Lower, Diag::Unit);
    solve(Uplo::Upper, Diag::NonUnit);
  } else {
    solve(Uplo::Upper, Diag::NonUnit);
    solve(Uplo::Lower, Diag::Unit);
    permute();
  }
  Report report = report_of<T>({}, 3 * n, "lu");
  report.accuracy.mode = options.precision.mode();
  if (!on_host) report.accuracy.bound = solved;
  return report;
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
