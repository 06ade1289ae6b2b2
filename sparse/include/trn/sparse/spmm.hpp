// Products of a sparse matrix with dense ones: C = alpha op(A) B + beta C. With one column this is SpMV.
// cuSPARSE: SpMV, SpMM, bsrmv, bsrmm, their preprocess and buffer calls, strided batches of B and C.
//
// A plan looks at the matrix once, transposes it if op says so, chooses a kernel and converts; execute() is then called
// as often as one likes, from several threads if each has its own workspace. B and C may have any strides: row-major B
// (column stride 1) is read in place, other layouts are packed panel by panel into the workspace.
//
// The bound: for the real and the imaginary part of each element,
//   |C - exact|(i,j) <= (k_i + 2) u (|alpha| |op(A)| |B| + |beta C|)(i,j) + O(u^2),
// k_i the entries in row i of op(A), u the unit roundoff; for complex types with alpha other than 1 or beta other than
// 0 k_i + 5. Each row is summed by one thread in an order that the matrix alone decides, so the bits do not depend on
// the number of threads. beta = 0 never reads C. An absent entry is not multiplied: infinities in B reach only the rows
// that have an entry there. A zero inside a block of a Bsr or on a diagonal of a Dia is an entry.
//
// On a device (float) A becomes tiles of 128 x 128 (tile_programs.hpp), made on the host when the plan is and kept in
// the device's memory. The bound is Accuracy::bound: with k the longest row, g the most tiles in a window (at most k)
// and the terms of trn/tile/words.hpp for the mode,
//   (min(k, 128) + passes g + extra + 3) u + product_error,
// relative to |alpha| |op(A)| |B| + |beta C|, barring overflow and underflow. A target looks at the operands: the plan
// passes over modes in whose words an element of A is infinite; execute() reads B, and C if beta is not 0, and refuses
// (InvalidArgument, C as it was) elements that are not finite or that the mode's words cannot hold, and sums that may
// overflow. What underflow loses is not counted: it is at most 2^-134 for a word of bf16, 2^-137 for one of tf32 and
// 2^-149 for a product. Zeros of a tile meet rows of B: an infinity or NaN there reaches every row of the window of 128
// that has an entry in that column (resident, pinned: in that block; dia, whose bound is (k + 3) u: on that diagonal).
// Stencil's bound has 7 terms for min(k, 128), and its groups of coefficients for g.
// Products with one column run there too, but unstructured SpMV belongs to the host: PlanReport has both times. Bits do
// not depend on the order in which the device's engines run.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include <trn/core/block_tiles.hpp>
#include <trn/core/precision.hpp>
#include <trn/sparse/convert.hpp>
#include <trn/sparse/ordering.hpp>

namespace trn::sparse {

// Any format. Bsr and Dia keep their form, the others are converted to Csr on the host.
template <Scalar T> class AnySparse {
 public:
  using Held = std::variant<Csr<T>, Csr<T, std::int64_t>, Bsr<T>, Dia<T>>;
  AnySparse(const Csr<T>& a) : held_(a) {}
  AnySparse(const Csr<T, std::int64_t>& a) : held_(a) {}
  AnySparse(const Bsr<T>& a) : held_(a) {}
  AnySparse(const Dia<T>& a) : held_(a) {}
  template <class Format>
  requires std::same_as<typename Format::Value, T> AnySparse(const Format& a) : held_(to_csr(a)) {}
  [[nodiscard]] const Held& held() const { return held_; }
  [[nodiscard]] const Executor& executor() const {
    return std::visit([](const auto& a) -> const Executor& { return a.executor(); }, held_);
  }
  [[nodiscard]] Extents extents() const {
    return std::visit([](const auto& a) { return a.extents(); }, held_);
  }

 private:
  Held held_;
};

// Host. Csr: a row at a time. Sell: eight rows of similar length at a time, for short rows. Bsr: full blocks. Dia:
// diagonals, in which places where A has no entry are masked. A forced Bsr multiplies zeros that A does not have.
// Devices. Resident: blocks of 128 x 128, B in SBUF. Pinned: A in SBUF too, for several panels of B. Gather: tiles of a
// window's distinct columns, rows of B fetched by number (not on trn1). Dia: diagonals, in mode native; made for one
// column, takes any. Stencil: constant coefficients on a grid, found in the matrix, in mode native; its zeros meet B
// within 128 planes of the grid, or 128 rows of a plane. Automatic takes the one with the least time, and looks at Dia
// and Stencil where SpmmOptions::columns is 1.
enum class Kernel : std::uint8_t { Automatic, Csr, Sell, Bsr, Dia, Resident, Pinned, Gather, Stencil };
[[nodiscard]] std::string_view name(Kernel kernel);

struct SpmmOptions {
  Op op = Op::N;
  std::int64_t columns = 1;  // of B, as a rule: what the kernel is chosen for
  Kernel kernel = Kernel::Automatic;
  // Devices: how words multiply (blas.hpp's modes but Exact), or a target for Accuracy::bound. The host has Native.
  Precision precision = {};
  // Of rows and columns of a square A alike. B and C are then in the plan's order: row k is row permutation()[k] of A.
  Reorder reorder = Reorder::None;
};

struct PlanReport {
  Kernel kernel = Kernel::Csr;                     // that execute() runs
  std::int64_t nnz = 0, stored = 0;                // entries of A, and with padding
  std::int64_t block_rows = 1, block_columns = 1;  // Bsr
  std::int64_t diagonals = 0;                      // Dia, on hosts and devices; coefficients of Stencil
  std::int64_t longest_row = 0;
  std::int64_t matrix_bytes = 0;  // that one product reads of A
  // Bytes of A in each form that was considered, the kernel's own among them.
  struct Alternative {
    Kernel kernel;
    std::int64_t bytes;
    double fill;         // entries of A for one stored
    double seconds = 0;  // devices: modelled for one product with SpmmOptions::columns columns, launch included
  };
  std::vector<Alternative> alternatives;
  // Devices.
  std::int64_t tiles = 0;       // of 128 x 128, the added ones of Gather counted
  double fill = 0;              // entries of A for one place in a tile or on a diagonal
  double modelled_seconds = 0;  // of the kernel, as in its alternative
  double host_seconds = 0;      // of one host core at a nominal 4.5 (one column) or 30 GFLOP/s
  double break_even_fill = 0;   // above this fill what is stored takes the device less time than that core
};

struct Workspace {
  std::span<std::byte> bytes = {};  // aligned to 64; empty: the call takes memory for itself
};

namespace detail {
template <Scalar T> struct SpmmData;
struct SpmmAccess;
}  // namespace detail

template <Scalar T> class SpmmPlan {
 public:
  SpmmPlan(const Executor& executor, const AnySparse<T>& a, const SpmmOptions& options = {});

  // B is columns() x n, C is rows() x n.
  Accuracy execute(T alpha, const blas::ConstMatrix<T>& b, T beta, const MatrixView<T>& c,
                   Workspace workspace = {}) const;
  // B of 16 bits, half the traffic: devices, kernels Resident and Pinned in mode bf16. Only A is rounded then, and the
  // bound is the plan's.
  Accuracy execute(T alpha, const MatrixView<const bfloat16>& b, T beta,
                   const MatrixView<T>& c) const requires std::same_as<T, float>;
  // The same for `count` matrices; problem k begins k * b_step and k * c_step elements after the first.
  Accuracy execute_batched(T alpha, const blas::ConstMatrix<T>& b, std::int64_t b_step, T beta, const MatrixView<T>& c,
                           std::int64_t c_step, std::int64_t count, Workspace workspace = {}) const;
  // New values in the order of the matrix that the plan was made of; the same kernel.
  [[nodiscard]] SpmmPlan with_values(const VectorView<const T>& values) const;

  [[nodiscard]] std::int64_t rows() const;  // of op(A)
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] std::int64_t workspace_bytes(std::int64_t columns) const;  // that any layout of B may need
  [[nodiscard]] const PlanReport& report() const;
  // The order of B's and C's rows; none unless SpmmOptions::reorder asked for one.
  [[nodiscard]] const std::optional<Permutation>& permutation() const;

 private:
  friend struct detail::SpmmAccess;
  SpmmPlan(const Executor& executor, std::shared_ptr<const detail::SpmmData<T>> data)
      : executor_(executor), data_(std::move(data)) {}
  Executor executor_;
  std::shared_ptr<const detail::SpmmData<T>> data_;
};

// y = op(A) x and C = op(A) B as new values: a plan is made and dropped.
template <Scalar T> [[nodiscard]] Array<T> spmv(const Executor& executor, const AnySparse<T>& a,
                                                const blas::ConstVector<T>& x, Op op = Op::N);
template <Scalar T> [[nodiscard]] Matrix<T> spmm(const Executor& executor, const AnySparse<T>& a,
                                                 const blas::ConstMatrix<T>& b, Op op = Op::N);

struct OperatorOptions {
  std::int64_t columns = 1;  // most columns of a block
  bool adjoint = false;      // also op T and C, for one more copy of A (complex: two)
  Kernel kernel = Kernel::Automatic;
};

// A sparse matrix as a trn::LinearOperator. apply() uses work space of the operator, so one thread at a time.
template <Scalar T> class SparseOperator {
 public:
  using Value = T;
  SparseOperator(const Executor& executor, const AnySparse<T>& a, const OperatorOptions& options = {});
  [[nodiscard]] std::int64_t rows() const { return plan_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return plan_.columns(); }
  [[nodiscard]] const Executor& executor() const { return plan_.executor(); }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;
  [[nodiscard]] const SpmmPlan<T>& plan() const { return plan_; }
  // The matrix as tiles in its device's memory, for methods that keep it in SBUF; they live as long as the operator.
  // For a square matrix and the kernels Resident and Pinned (InvalidArgument otherwise): ask for one of them.
  [[nodiscard]] BlockTiles block_tiles() const requires std::same_as<T, float>;

 private:
  SpmmPlan<T> plan_;
  std::optional<SpmmPlan<T>> transposed_, adjoint_;
  std::int64_t most_columns_;
  Buffer work_;
};

}  // namespace trn::sparse
