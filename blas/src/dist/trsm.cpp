// trsm on distributed operands: right-looking, over the blocks of the dimension that A acts on. In step K
//
//   the ranks that own block row K of B (Left; block column for Right) get the diagonal block and solve, block by block
//   X_K goes to all ranks of their grid column (row), A's blocks beside the diagonal to all ranks of their grid row
//   every rank subtracts the product from what is left of its part of B
//
// alpha enters with the first step: as the factor of its solve, and as beta of its update.
#include <trn/blas/dist_trsm.hpp>

#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/blas/trsm.hpp>

#include "checks.hpp"
#include "dist/panels.hpp"
#include "dist/product.hpp"
#include "gemm_accuracy.hpp"

namespace trn::blas {

namespace {

using distributed::Aligned;

// What `root` has, in a packed copy on every rank of a row or column; no copy where there is one rank.
template <class T> class Spread {
 public:
  Spread(const Executor& executor, const comm::Communicator& along, std::int64_t elements) : along_(along) {
    if (along_.size() > 1) buffer_.emplace(executor, Shape{elements});
  }
  // rows x columns; `mine` is looked at on the root only.
  template <class Mine>
  MatrixView<const T> operator()(int root, std::int64_t rows, std::int64_t columns, const Mine& mine) const {
    if (!buffer_) return mine();
    const auto packed = MatrixView<T>::column_major(buffer_->executor(), buffer_->data(), rows, columns);
    if (rows == 0 || columns == 0) return packed;
    if (along_.rank() == root) copy(View<const T>(mine()), View<T>(packed));
    comm::broadcast(along_, root, View<T>(packed.transposed()));
    return packed;
  }

 private:
  comm::Communicator along_;
  std::optional<trn::Array<T>> buffer_;
};

template <class T> class Solve {
 public:
  Solve(Side side, Uplo uplo, Op op, Diag diag, T alpha, const dist::Matrix<T>& b, Mode mode)
      : side_(side),
        uplo_(uplo),
        op_(op),
        diag_(diag),
        alpha_(alpha),
        b_(b),
        mode_(mode),
        place_(b.group(), b.distribution().grid),
        left_(side == Side::Left),
        solved_(left_ ? b.distribution().row() : b.distribution().column()),
        other_(left_ ? b.distribution().column() : b.distribution().row()) {}

  Accuracy operator()(const dist::Matrix<T>& a) {
    const Executor& executor = b_.executor();
    const bool in_place = executor.family() == Family::Host && mode_ == Mode::Native;
    const MatrixView<T> local = b_.local();
    const bool empty = local.rows() == 0 || local.columns() == 0;
    out_ = local;
    comm::Agreement agreement(b_.group());
    std::optional<Aligned<T>> triangle;
    std::optional<Spread<T>> factors, solutions;
    std::optional<trn::Array<T>> buffer;
    agreement.attempt([&] {
      if (!empty && a.local().rows() * a.local().columns() > 0)
        checks::no_overlap("blas.trsm", "A", checks::extent(a.local()), "B", checks::extent(local));
      triangle.emplace(a, op_, solved_.block, solved_.block, b_.distribution().grid);
      const std::int64_t mine = left_ ? local.rows() : local.columns(), across = left_ ? local.columns() : local.rows();
      factors.emplace(executor, left_ ? place_.along_row : place_.along_column,
                      mine * std::min(solved_.block, solved_.extent));
      solutions.emplace(executor, left_ ? place_.along_column : place_.along_row,
                        across * std::min(solved_.block, solved_.extent));
      const std::int64_t depth = std::min(solved_.block, solved_.extent), wide = std::min(other_.block, across);
      block_a_.emplace(executor, Shape{depth * depth});
      block_b_.emplace(executor, Shape{depth * wide});
      if (in_place) return;
      buffer.emplace(executor, Shape{local.columns(), local.rows()});
      out_ = MatrixView<T>::column_major(executor, buffer->data(), local.rows(), local.columns());
      if (!empty) copy(View<const T>(MatrixView<const T>(local)), View<T>(*out_));
    });
    agreement.settle();
    triangle->bring();
    const std::int64_t steps = solved_.blocks();
    const bool lower = (uplo_ == Uplo::Lower) == (op_ == Op::N), ascending = lower == left_;
    for (std::int64_t s = 0; s < steps && place_.inside; ++s) {
      const std::int64_t k = ascending ? s : steps - 1 - s;
      step(k, ascending, s == 0 ? alpha_ : T(1), *triangle, *factors, *solutions, agreement);
    }
    agreement.settle();
    if (!in_place && !empty) copy(View<const T>(MatrixView<const T>(*out_)), View<T>(local));
    const double update = update_bound(executor, steps);
    return {mode_, static_cast<int>(comm::maximum<std::int64_t>(b_.group(), accuracy_.passes)),
            comm::maximum(b_.group(), accuracy_.bound) + (steps > 1 ? comm::maximum(b_.group(), update) : 0)};
  }

 private:
  // Block row (Left) or column (Right) k.
  void step(std::int64_t k, bool ascending, T alpha, const Aligned<T>& triangle, const Spread<T>& factors,
            const Spread<T>& solutions, comm::Agreement& agreement) {
    const Executor& executor = b_.executor();
    const int along_me = left_ ? place_.row : place_.column, across_me = left_ ? place_.column : place_.row,
              across_ranks = left_ ? place_.grid.columns : place_.grid.rows;
    const std::int64_t depth = solved_.block_extent(k), width = left_ ? out_->columns() : out_->rows(),
                       mine = left_ ? out_->rows() : out_->columns();
    const int owner = static_cast<int>(k % solved_.ranks), factor_owner = static_cast<int>(k % across_ranks);
    // Local indices of this rank's blocks from k on, in the order of steps: with the diagonal block where it is mine.
    const std::int64_t before = blocks_before(k, along_me), first = std::min(mine, before * solved_.block),
                       diagonal = owner == along_me ? depth : 0;
    const std::int64_t begin = ascending ? first : 0, end = ascending ? mine : std::min(mine, first + diagonal);
    const std::int64_t column = factor_owner == across_me ? k / across_ranks * solved_.block : 0;
    const auto part = [&](std::int64_t at, std::int64_t count) {
      return left_ ? triangle.block(at, column, count, depth) : triangle.block(column, at, depth, count);
    };
    const auto stored = [&](std::int64_t count) {
      return left_ == (op_ == Op::N) ? std::pair(count, depth) : std::pair(depth, count);
    };
    const auto [rows, columns] = stored(end - begin);
    const MatrixView<const T> factor = factors(factor_owner, rows, columns, [&] { return part(begin, end - begin); });
    // A range of those indices, as stored.
    const auto piece = [&](std::int64_t at, std::int64_t count) {
      return left_ == (op_ == Op::N) ? factor.block(at - begin, 0, count, depth)
                                     : factor.block(0, at - begin, depth, count);
    };
    const auto lines = [&](std::int64_t at, std::int64_t count, std::int64_t across, std::int64_t across_count) {
      return left_ ? out_->block(at, across, count, across_count) : out_->block(across, at, across_count, count);
    };
    if (diagonal > 0) agreement.attempt([&] { solve_blocks(piece(first, depth), alpha, lines, first, depth, width); });
    const MatrixView<const T> x = solutions(owner, left_ ? depth : width, left_ ? width : depth,
                                            [&] { return MatrixView<const T>(lines(first, depth, 0, width)); });
    const std::int64_t rest = ascending ? begin + diagonal : begin, count = ascending ? mine - rest : first - rest;
    if (count <= 0 || width == 0) return;
    agreement.attempt([&] {
      const MatrixView<const T> f = piece(rest, count);
      const MatrixView<T> to = lines(rest, count, 0, width);
      if (mode_ == Mode::Native) {
        left_ ? ordered_gemm<T>(executor, op_, Op::N, T(-1), f, x, alpha, to)
              : ordered_gemm<T>(executor, Op::N, op_, T(-1), x, f, alpha, to);
      } else {
        update_in_blocks(piece, x, alpha, lines, rest, count, width);
      }
    });
  }

  // One local solve per block of B, on packed copies: what a kernel does may depend on strides, and those of a part
  // depend on the number of ranks.
  template <class Lines> void solve_blocks(const MatrixView<const T>& factor, T alpha, const Lines& lines,
                                           std::int64_t first, std::int64_t depth, std::int64_t width) {
    const Executor& executor = b_.executor();
    const auto triangle = MatrixView<T>::column_major(executor, block_a_->data(), depth, depth);
    copy(View<const T>(factor), View<T>(triangle));
    for (std::int64_t j = 0; j < width; j += other_.block) {
      const MatrixView<T> to = lines(first, depth, j, std::min(other_.block, width - j));
      const auto x = MatrixView<T>::column_major(executor, block_b_->data(), to.rows(), to.columns());
      copy(View<const T>(MatrixView<const T>(to)), View<T>(x));
      const Accuracy solved = trsm<T>(executor, side_, uplo_, op_, diag_, alpha, triangle, x, {.precision = mode_});
      copy(View<const T>(MatrixView<const T>(x)), View<T>(to));
      accuracy_.bound = std::max(accuracy_.bound, solved.bound);
      accuracy_.passes = std::max(accuracy_.passes, solved.passes);
    }
  }

  // How many blocks before k this rank of the dimension has.
  [[nodiscard]] std::int64_t blocks_before(std::int64_t k, int me) const {
    return k / solved_.ranks + (k % solved_.ranks > me ? 1 : 0);
  }

  // A product in a mode whose bits depend on what it is called with: one per block of B.
  template <class Piece, class Lines> void update_in_blocks(const Piece& piece, const MatrixView<const T>& x, T beta,
                                                            const Lines& lines, std::int64_t begin, std::int64_t count,
                                                            std::int64_t width) {
    const Executor& executor = b_.executor();
    for (std::int64_t i = begin; i < begin + count; i += solved_.block) {
      const std::int64_t high = std::min(solved_.block, begin + count - i);
      for (std::int64_t j = 0; j < width; j += other_.block) {
        const std::int64_t wide = std::min(other_.block, width - j);
        const MatrixView<const T> f = piece(i, high),
                                  part = left_ ? x.block(0, j, x.rows(), wide) : x.block(j, 0, wide, x.columns());
        const MatrixView<T> to = lines(i, high, j, wide);
        const Accuracy done = left_ ? gemm(executor, op_, Op::N, T(-1), f, part, beta, to, {.precision = mode_})
                                    : gemm(executor, Op::N, op_, T(-1), part, f, beta, to, {.precision = mode_});
        update_ = std::max(update_, done.bound);
      }
    }
  }

  // A step's product errs by its bound relative to ||a_i|| ||x_j|| and to what is left of B, which is a sum of terms
  // a_ik x_k, at most ||a_i|| ||x_j|| too. Native on the host: every term meets the roundings of one product and one
  // for each later step.
  [[nodiscard]] double update_bound(const Executor& executor, std::int64_t steps) const {
    const DType dtype = dtype_of<T>;
    const double n = static_cast<double>(steps), u = unit_roundoff(dtype);
    if (mode_ != Mode::Native) return 2 * n * update_;
    const double product = gemm_error_bound(executor.family(), dtype, dtype, std::min(solved_.block, solved_.extent));
    return product + (ComplexScalar<T> ? 8 : 2) * n * u;
  }

  Side side_;
  Uplo uplo_;
  Op op_;
  Diag diag_;
  T alpha_;
  const dist::Matrix<T>& b_;
  Mode mode_;
  dist::Place place_;
  bool left_;
  dist::Cyclic solved_, other_;  // the dimension of B that A acts on, and the other
  std::optional<MatrixView<T>> out_;
  std::optional<trn::Array<T>> block_a_, block_b_;
  Accuracy accuracy_{Mode::Native, 1, 0};
  double update_ = 0;
};

}  // namespace

template <Scalar T> Accuracy trsm(Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const dist::Matrix<T>& a,
                                  const dist::Matrix<T>& b, const ProductOptions& options) {
  constexpr const char* operation = "blas.trsm";
  distributed::Arguments(operation, b.group())
      .add(side)
      .add(uplo)
      .add(op)
      .add(diag)
      .add(alpha)
      .add(options.precision)
      .add(b)
      .add(a)
      .say();
  checks::enumerators(operation, side, uplo, op, diag, options.precision);
  distributed::check_precision(operation, options.precision, dtype_of<T>, b.executor().family());
  const std::int64_t order = side == Side::Left ? b.rows() : b.columns();
  require(a.rows() == order && a.columns() == order, "{}: A is {} x {}, B is {} x {}; A must be {} x {}", operation,
          a.rows(), a.columns(), b.rows(), b.columns(), order, order);
  const Mode mode = options.precision.mode();
  if (b.rows() == 0 || b.columns() == 0) return {mode, 1, 0};
  if (alpha == T(0)) {  // A is not read
    comm::together(b.group(), [&] {
      std::vector<T> zeros(static_cast<std::size_t>(b.local().rows() * b.local().columns()), T(0));
      copy(View<const T>(Executor::host(), zeros.data(), {b.local().rows(), b.local().columns()}), View<T>(b.local()));
    });
    return {mode, 1, 0};
  }
  const Op used = op == Op::C && !ComplexScalar<T> ? Op::T : op;
  return Solve<T>(side, uplo, used, diag, alpha, b, mode)(a);
}

#define TRN_TRSM(T)                                                                                          \
  template Accuracy trsm<T>(Side, Uplo, Op, Diag, Number<T>, const dist::Matrix<T>&, const dist::Matrix<T>&, \
                            const ProductOptions&);
TRN_TRSM(float)
TRN_TRSM(double)
TRN_TRSM(std::complex<float>)
TRN_TRSM(std::complex<double>)
#undef TRN_TRSM

}  // namespace trn::blas
