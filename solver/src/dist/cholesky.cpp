// potrf on a distributed matrix, lower triangle, in steps over block columns K:
//
//   the owner of A_KK factors it; the ranks of its grid column get L_KK and solve L_IK L_KK^H = A_IK, I > K; on the
//   host the ranks of each row share that solve
//   L_IK goes along the grid rows, then L_JK along the grid columns to the ranks that own block columns J
//   A_IJ -= L_IK L_JK^H for I >= J > K
//
// The upper triangle is the lower one of A^T = L' L'^H with L' = U^T: the same steps on transposed views, with rows and
// columns of the grid exchanged.
#include <trn/solver/dist_cholesky.hpp>

#include <optional>

#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/comm/agreement.hpp>
#include <trn/comm/place.hpp>
#include <trn/solver/cholesky.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "dist/arguments.hpp"
#include "dist/ordered_trsm.hpp"

namespace trn::solver {

namespace {

constexpr const char* kPotrfName = "solver.potrf";
constexpr std::int64_t kGroup = 4;  // blocks of columns in an update

template <class T> void move(const MatrixView<const T>& from, const MatrixView<T>& to) {
  if (from.rows() > 0 && from.columns() > 0) copy(View<const T>(from), View<T>(to));
}
template <class T> void move(const MatrixView<T>& from, const MatrixView<T>& to) {
  move(MatrixView<const T>(from), to);
}

template <class T> class Factor {
 public:
  Factor(Uplo uplo, const dist::Matrix<T>& a)
      : a_(a),
        upper_(uplo == Uplo::Upper),
        place_(a.group(), a.distribution().grid),
        row_(upper_ ? a.distribution().column() : a.distribution().row()),
        column_(upper_ ? a.distribution().row() : a.distribution().column()),
        r_(upper_ ? place_.column : place_.row),
        c_(upper_ ? place_.row : place_.column),
        along_row_(upper_ ? place_.along_column : place_.along_row),
        along_column_(upper_ ? place_.along_row : place_.along_column),
        executor_(a.executor()),
        host_(executor_.family() == Family::Host),
        mode_(!host_ && std::same_as<Real<T>, double> ? Mode::Exact : Mode::Native),
        agreement_(a.group()),
        part_(oriented(a.local())) {}

  Report operator()() {
    agreement_.attempt([&] { allocate(); });
    agreement_.settle();
    Outcome outcome;
    for (std::int64_t k = 0; k < row_.blocks() && outcome.ok(); ++k) {
      outcome = factor_diagonal(k);
      if (agreed_failure_) break;
      if (outcome.ok() && place_.inside) {
        solve_panel(k);
        spread_panel(k);
        agreement_.attempt([&] { update(k); });
      }
    }
    agreement_.settle();
    if (whole_) move(part_, oriented(a_.local()));
    Report report = report_of<T>(outcome, row_.extent, "cholesky");
    if (!host_) {
      const double steps = static_cast<double>(row_.blocks());
      report.algorithm = mode_ == Mode::Exact ? "blocked cholesky, exact products" : "blocked cholesky";
      report.accuracy.mode = mode_;
      const double bound = comm::maximum(a_.group(), diagonal_bound_) + comm::maximum(a_.group(), panel_bound_) +
                           2 * steps * comm::maximum(a_.group(), update_bound_);
      if (outcome.ok()) report.accuracy.bound = bound;
    }
    return report;
  }

 private:
  [[nodiscard]] MatrixView<T> oriented(const MatrixView<T>& x) const { return upper_ ? x.transposed() : x; }
  [[nodiscard]] std::int64_t rows_before(std::int64_t k) const { return before(row_, k, r_); }
  [[nodiscard]] std::int64_t columns_before(std::int64_t k) const { return before(column_, k, c_); }
  static std::int64_t before(const dist::Cyclic& cut, std::int64_t k, int me) {
    return std::min(cut.local_extent(me), (k / cut.ranks + (k % cut.ranks > me ? 1 : 0)) * cut.block);
  }
  [[nodiscard]] MatrixView<T> packed(const std::optional<trn::Array<T>>& buffer, std::int64_t rows,
                                     std::int64_t columns) const {
    return MatrixView<T>::column_major(executor_, buffer->data(), rows, columns);
  }

  void allocate() {
    const std::int64_t b = std::min(row_.block, row_.extent), rows = part_.rows(), columns = part_.columns();
    diagonal_.emplace(executor_, Shape{b * b});
    corner_.emplace(executor_, Shape{b * b});
    panel_.emplace(executor_, Shape{rows * b});
    beside_.emplace(executor_, Shape{columns * b});
    passing_.emplace(executor_, Shape{columns * b});
    if (host_) return;
    whole_.emplace(executor_, Shape{columns * rows});  // A is as it was when a device fails
    const MatrixView<T> copied = MatrixView<T>::column_major(executor_, whole_->data(), rows, columns);
    move(part_, copied);
    part_ = copied;
  }

  // L_KK, and what all ranks know of it.
  Outcome factor_diagonal(std::int64_t k) {
    const std::int64_t depth = row_.block_extent(k);
    const int rk = static_cast<int>(k % row_.ranks), ck = static_cast<int>(k % column_.ranks);
    const int owner = upper_ ? place_.grid.rank(ck, rk) : place_.grid.rank(rk, ck);
    std::int64_t said[3] = {0, 0, 0};
    if (a_.group().rank() == owner) {
      agreement_.attempt([&] {
        const MatrixView<T> block = part_.block(rows_before(k), columns_before(k), depth, depth),
                            factor = packed(diagonal_, depth, depth);
        move(block, factor);
        const Report report = potrf(executor_, Uplo::Lower, factor);
        move(factor, block);
        diagonal_bound_ = std::max(diagonal_bound_, report.accuracy.bound);
        const std::int64_t at = k * row_.block, index = report.outcome.index;
        said[0] = static_cast<std::int64_t>(report.outcome.status);
        said[1] = index < 0                                    ? index
                  : report.outcome.status == Status::NotFinite ? global_index(at + index / depth, at + index % depth)
                                                               : at + index;
      });
      said[2] = agreement_.failed() ? 1 : 0;
    }
    comm::broadcast(a_.group(), owner, View<std::int64_t>(Executor::host(), said, {3}));
    agreed_failure_ = said[2] != 0;
    return {static_cast<Status>(said[0]), said[1]};
  }
  [[nodiscard]] std::int64_t global_index(std::int64_t i, std::int64_t j) const {
    return upper_ ? j * row_.extent + i : i * row_.extent + j;
  }

  void solve_panel(std::int64_t k) {
    const std::int64_t depth = row_.block_extent(k), first = rows_before(k + 1), rows = part_.rows() - first;
    const int ck = static_cast<int>(k % column_.ranks), rk = static_cast<int>(k % row_.ranks);
    const MatrixView<T> factor = packed(diagonal_, depth, depth), panel = packed(panel_, rows, depth);
    if (c_ == ck) comm::broadcast(along_column_, rk, View<T>(factor.transposed()));
    if (host_ && column_.ranks > 1) {
      // The ranks of a row share its rows of the panel, which all of them need.
      if (rows == 0) return;
      comm::broadcast(along_row_, ck, View<T>(factor.transposed()));
      if (c_ == ck) move(part_.block(first, columns_before(k), rows, depth), panel);
      share_rows(ck, rows, depth);
      if (c_ == ck) move(panel, part_.block(first, columns_before(k), rows, depth));
      return;
    }
    if (c_ != ck) return;
    const MatrixView<T> below = part_.block(first, columns_before(k), rows, depth);
    agreement_.attempt([&] {
      if (host_) return dist_host::solve_right<T>(factor, below);
      // In one launch, whose triangle is inverted once: what it does to a row does not depend on the others. Exact
      // plans a call by all of its rows, so that there it is one for each block.
      const std::int64_t high = mode_ == Mode::Native ? rows : row_.block;
      for (std::int64_t i = 0; i < rows; i += high) {
        const std::int64_t count = std::min(high, rows - i);
        const MatrixView<T> block = below.block(i, 0, count, depth),
                            x = mode_ == Mode::Native ? panel : packed(corner_, count, depth);
        move(block, x);
        const Accuracy solved =
            blas::trsm<T>(executor_, Side::Right, Uplo::Lower, Op::C, Diag::NonUnit, T(1), factor, x, {mode_});
        move(x, block);
        panel_bound_ = std::max(panel_bound_, solved.bound);
      }
    });
  }

  // panel_, which rank `from` of the row has: each rank gets an equal part of its rows, solves, and gives it to all.
  void share_rows(int from, std::int64_t rows, std::int64_t depth) {
    const int ranks = column_.ranks;
    const auto begin = [&](int r) { return rows * r / ranks; };
    const auto count = [&](int r) { return begin(r + 1) - begin(r); };
    const MatrixView<T> panel = packed(panel_, rows, depth), factor = packed(diagonal_, depth, depth);
    const auto part_of = [&](T* data, int r) { return MatrixView<T>::column_major(executor_, data, count(r), depth); };
    std::vector<std::int64_t> send(static_cast<std::size_t>(ranks), 0), receive(send);
    std::vector<T> parts, mine(static_cast<std::size_t>(count(c_) * depth));
    receive[static_cast<std::size_t>(from)] = count(c_) * depth;
    if (c_ == from) {
      parts.resize(static_cast<std::size_t>(rows * depth));
      for (int r = 0; r < ranks; ++r) {
        send[static_cast<std::size_t>(r)] = count(r) * depth;
        move(panel.block(begin(r), 0, count(r), depth), part_of(parts.data() + begin(r) * depth, r));
      }
    }
    const auto flat = [&](std::vector<T>& v) {
      return View<T>(executor_, v.data(), {static_cast<std::int64_t>(v.size())});
    };
    comm::all_to_all_v(along_row_, flat(parts), send, flat(mine), receive);
    agreement_.attempt([&] { dist_host::solve_right<T>(factor, part_of(mine.data(), c_)); });
    // Now everybody gives its part to all.
    std::vector<std::int64_t> gives(static_cast<std::size_t>(ranks), count(c_) * depth), takes;
    std::vector<T> copies, all(static_cast<std::size_t>(rows * depth));
    for (int r = 0; r < ranks; ++r) {
      takes.push_back(count(r) * depth);
      copies.insert(copies.end(), mine.begin(), mine.end());
    }
    comm::all_to_all_v(along_row_, flat(copies), gives, flat(all), takes);
    for (int r = 0; r < ranks; ++r)
      move(part_of(all.data() + begin(r) * depth, r), panel.block(begin(r), 0, count(r), depth));
  }

  // panel_: L_IK for this rank's rows below K; beside_: L_JK for its columns after K.
  void spread_panel(std::int64_t k) {
    const std::int64_t depth = row_.block_extent(k), first = rows_before(k + 1), rows = part_.rows() - first;
    const int ck = static_cast<int>(k % column_.ranks);
    const MatrixView<T> panel = packed(panel_, rows, depth);
    if (!host_ || column_.ranks == 1) {  // elsewhere every rank of the row has it
      // One launch has left the panel packed.
      if (c_ == ck && (host_ || mode_ != Mode::Native)) move(part_.block(first, columns_before(k), rows, depth), panel);
      if (rows > 0) comm::broadcast(along_row_, ck, View<T>(panel.transposed()));
    }
    const std::int64_t start = columns_before(k + 1), columns = part_.columns() - start;
    const MatrixView<T> beside = packed(beside_, columns, depth);
    for (int r = 0; r < row_.ranks; ++r) {  // block columns of mine whose rows belong to grid row r
      std::int64_t count = 0;
      const auto for_blocks = [&](const auto& f) {
        count = 0;
        for (std::int64_t j = start; j < part_.columns(); j += column_.block) {
          const std::int64_t block = column_.to_global(j, c_) / column_.block, high = column_.block_extent(block);
          if (block % row_.ranks != r) continue;
          f(block, j - start, high);
          count += high;
        }
      };
      for_blocks([](std::int64_t, std::int64_t, std::int64_t) {});
      if (count == 0) continue;
      const MatrixView<T> passing = packed(passing_, count, depth);
      if (r == r_) {
        for_blocks([&](std::int64_t block, std::int64_t, std::int64_t high) {
          const std::int64_t i = row_.to_local(block * row_.block) - first;
          move(panel.block(i, 0, high, depth), passing.block(count, 0, high, depth));
        });
      }
      comm::broadcast(along_column_, r, View<T>(passing.transposed()));
      for_blocks([&](std::int64_t, std::int64_t j, std::int64_t high) {
        move(passing.block(count, 0, high, depth), beside.block(j, 0, high, depth));
      });
    }
  }

  void update(std::int64_t k) {
    const std::int64_t depth = row_.block_extent(k), first = rows_before(k + 1), start = columns_before(k + 1);
    const MatrixView<const T> panel = packed(panel_, part_.rows() - first, depth),
                              beside = packed(beside_, part_.columns() - start, depth);
    // Columns of several blocks at once for the rows below all of them, block by block for those beside them.
    const std::int64_t wide = mode_ == Mode::Native ? kGroup * column_.block : column_.block;
    for (std::int64_t begin = start; begin < part_.columns(); begin += wide) {
      const std::int64_t end = std::min(begin + wide, part_.columns()),
                         below = rows_before(column_.to_global(end - 1, c_) / column_.block + 1);
      for (std::int64_t j = begin; j < end; j += column_.block) {
        const std::int64_t block = column_.to_global(j, c_) / column_.block, width = column_.block_extent(block);
        const MatrixView<const T> right = beside.block(j - start, 0, width, depth);
        std::int64_t i = rows_before(block);
        if (static_cast<int>(block % row_.ranks) == r_) {
          update_corner(panel.block(i - first, 0, width, depth), right, part_.block(i, j, width, width));
          i += width;
        }
        if (below > i) product(panel.block(i - first, 0, below - i, depth), right, part_.block(i, j, below - i, width));
      }
      if (const std::int64_t rest = part_.rows() - below; rest > 0)
        product(panel.block(below - first, 0, rest, depth), beside.block(begin - start, 0, end - begin, depth),
                part_.block(below, begin, rest, end - begin));
    }
  }

  // C -= A B^H.
  void product(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c) {
    if (mode_ == Mode::Native) {
      const Accuracy done = blas::ordered_gemm<T>(executor_, Op::N, Op::C, T(-1), a, b, T(1), c);
      update_bound_ = std::max(update_bound_, done.bound);
      return;
    }
    for (std::int64_t i = 0; i < c.rows(); i += row_.block) {  // a plan for each block, as the grid may be any
      const std::int64_t high = std::min(row_.block, c.rows() - i);
      const Accuracy done = blas::gemm(executor_, Op::N, Op::C, T(-1), a.block(i, 0, high, a.columns()), b, T(1),
                                       c.block(i, 0, high, c.columns()), {.precision = mode_});
      update_bound_ = std::max(update_bound_, done.bound);
    }
  }

  // A block on the diagonal: its lower triangle only.
  void update_corner(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c) {
    const MatrixView<T> full = packed(corner_, c.rows(), c.rows());
    move(c, full);
    product(a, b, full);
    std::vector<T> now(static_cast<std::size_t>(c.rows() * c.rows())), then(now.size());
    const auto host = [&](std::vector<T>& v) {
      return MatrixView<T>::column_major(Executor::host(), v.data(), c.rows(), c.rows());
    };
    move(full, host(now));
    move(c, host(then));
    for (std::int64_t j = 0; j < c.rows(); ++j) {
      for (std::int64_t i = j; i < c.rows(); ++i) {
        const auto at = static_cast<std::size_t>(j * c.rows() + i);
        then[at] = i == j ? T(std::real(now[at])) : now[at];
      }
    }
    move(host(then), c);
  }

  const dist::Matrix<T>& a_;
  bool upper_;
  dist::Place place_;
  dist::Cyclic row_, column_;  // of A, or of A^T
  int r_, c_;
  comm::Communicator along_row_, along_column_;
  Executor executor_;
  bool host_;
  Mode mode_;
  comm::Agreement agreement_;
  MatrixView<T> part_;
  std::optional<trn::Array<T>> whole_, diagonal_, corner_, panel_, beside_, passing_;
  bool agreed_failure_ = false;
  double diagonal_bound_ = 0, panel_bound_ = 0, update_bound_ = 0;
};

}  // namespace

template <Scalar T> Report potrf(Uplo uplo, const dist::Matrix<T>& a, const FactorOptions& options) {
  dist_checks::same(kPotrfName, {static_cast<std::int64_t>(uplo), static_cast<std::int64_t>(options.precision.mode())},
                    a);
  checks::enumerators(kPotrfName, uplo);
  checks::native(kPotrfName, a.executor(), dtype_of<T>, options.precision);
  const dist::BlockCyclic& d = a.distribution();
  require(d.rows == d.columns, "{}: A is {} x {}; it must be square", kPotrfName, d.rows, d.columns);
  require(d.row_block == d.column_block, "{}: A has blocks of {} x {}; they must be square", kPotrfName, d.row_block,
          d.column_block);
  if (d.rows == 0) return report_of<T>({}, 0, "cholesky");
  return Factor<T>(uplo, a)();
}

template <Scalar T> Report potrs(Uplo uplo, const dist::Matrix<T>& factor, const dist::Matrix<T>& b) {
  constexpr const char* operation = "solver.potrs";
  dist_checks::same(operation, {static_cast<std::int64_t>(uplo)}, factor, b);
  checks::enumerators(operation, uplo);
  require(factor.rows() == factor.columns() && factor.rows() == b.rows(),
          "{}: the factor is {} x {}, B has {} rows; they must be n x n and n", operation, factor.rows(),
          factor.columns(), b.rows());
  dist_checks::apart(operation, "B", b, "the factor", factor);
  const bool exact = b.executor().family() != Family::Host && std::same_as<Real<T>, double>;
  const blas::ProductOptions options{exact ? Mode::Exact : Mode::Native};
  const bool lower = uplo == Uplo::Lower;
  const Accuracy first =
                     blas::trsm<T>(Side::Left, uplo, lower ? Op::N : Op::C, Diag::NonUnit, T(1), factor, b, options),
                 second =
                     blas::trsm<T>(Side::Left, uplo, lower ? Op::C : Op::N, Diag::NonUnit, T(1), factor, b, options);
  Report report = report_of<T>({}, 3 * factor.rows(), "cholesky");
  report.accuracy.mode = first.mode;
  if (b.executor().family() != Family::Host) report.accuracy.bound = first.bound + second.bound;
  return report;
}

#define TRN_DIST(T)                                                             \
  template Report potrf<T>(Uplo, const dist::Matrix<T>&, const FactorOptions&); \
  template Report potrs<T>(Uplo, const dist::Matrix<T>&, const dist::Matrix<T>&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::solver
