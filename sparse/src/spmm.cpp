// The entry points of sparse times dense: arguments are checked, then the executor's family does the work.
#include <trn/sparse/spmm.hpp>

#include <limits>

#include <trn/core/enumerators.hpp>
#include <trn/sparse/structure.hpp>
#include <trn/sparse/tile_programs.hpp>

#include "checks.hpp"
#include "kernels.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

constexpr std::int64_t kPanel = 32;  // columns of B that are packed at a time

template <Scalar T> Accuracy accuracy_of(const detail::SpmmData<T>& data, bool plain) {
  if (data.accuracy) return *data.accuracy;
  const double u = std::numeric_limits<Real<T>>::epsilon() / 2;
  return {Mode::Native, 1, static_cast<double>(data.report.longest_row + (plain || RealScalar<T> ? 2 : 5)) * u};
}

}  // namespace

std::string_view name(Kernel kernel) {
  constexpr std::string_view names[] = {"automatic", "csr",    "sell",   "bsr",    "dia",
                                        "resident",  "pinned", "gather", "stencil"};
  return names[static_cast<int>(kernel)];
}

template <Scalar T> AnySparse<T> reordered(const AnySparse<T>& a, Reorder reorder, std::optional<Permutation>& order) {
  if (reorder == Reorder::None) return a;
  const auto csr = std::visit(
      [](const auto& x) -> Csr<T> {
        if constexpr (std::same_as<std::decay_t<decltype(x)>, Csr<T, std::int64_t>>)
          return with_index<std::int32_t>(x);
        else
          return to_csr(x);
      },
      a.held());
  require(csr.rows() == csr.columns(), "sparse.spmm.plan: A is {} x {}; only a square matrix is reordered", csr.rows(),
          csr.columns());
  order = order_of(csr.pattern(), reorder);
  return permute(csr, *order, *order);
}

template <Scalar T> SpmmPlan<T>::SpmmPlan(const Executor& executor, const AnySparse<T>& a, const SpmmOptions& options)
    : executor_(executor) {
  constexpr const char* operation = "sparse.spmm.plan";
  operands::check_enumerator(operation, "Op", options.op, Op::C);
  operands::check_enumerator(operation, "Kernel", options.kernel, Kernel::Stencil);
  operands::check_enumerator(operation, "Reorder", options.reorder, Reorder::Best);
  operands::check_enumerator(operation, options.precision);
  operands::check_owner(operation, "A", executor, a.executor());
  require(options.columns >= 0, "{}: {} columns; there must be >= 0", operation, options.columns);
  data_ = dispatch(kSpmmPlan<T>, executor, SpmmPlanArgs<T>{a, options});
}

template <Scalar T> std::int64_t SpmmPlan<T>::rows() const { return data_->extents.rows; }
template <Scalar T> std::int64_t SpmmPlan<T>::columns() const { return data_->extents.columns; }
template <Scalar T> const PlanReport& SpmmPlan<T>::report() const { return data_->report; }
template <Scalar T> const std::optional<Permutation>& SpmmPlan<T>::permutation() const { return data_->permutation; }
template <Scalar T> std::int64_t SpmmPlan<T>::workspace_bytes(std::int64_t n) const {
  // Not byte_count(), whose shape is a vector: execute() asks this, and allocates nothing.
  const std::int64_t width = std::min(std::max<std::int64_t>(n, 0), kPanel) * static_cast<std::int64_t>(sizeof(T));
  std::int64_t bytes = 0;
  require(!__builtin_mul_overflow(columns(), width, &bytes), "sparse.spmm: a workspace for {} rows of B overflows",
          columns());
  return bytes;
}

template <Scalar T> Accuracy SpmmPlan<T>::execute(T alpha, const blas::ConstMatrix<T>& b, T beta,
                                                  const MatrixView<T>& c, Workspace workspace) const {
  constexpr const char* operation = "sparse.spmm";
  checks::input(operation, "B", executor_, b);
  checks::output(operation, "C", executor_, c);
  checks::shape(operation, "B", b, columns(), c.columns());
  checks::shape(operation, "C", c, rows(), b.columns());
  checks::apart(operation, "B", b, "C", c);
  const auto given = static_cast<std::int64_t>(workspace.bytes.size());
  require(given == 0 || given >= workspace_bytes(b.columns()),
          "{}: a workspace of {} bytes; {} columns may need {}, or give none", operation, given, b.columns(),
          workspace_bytes(b.columns()));
  require(reinterpret_cast<std::uintptr_t>(workspace.bytes.data()) % alignof(T) == 0,
          "{}: the workspace is not aligned for its elements; use 64 bytes", operation);
  dispatch(kSpmm<T>, executor_, SpmmArgs<T>{data_.get(), alpha, b, beta, c, workspace});
  return accuracy_of(*data_, alpha == T(1) && beta == T(0));
}

template <Scalar T> Accuracy SpmmPlan<T>::execute(T alpha, const MatrixView<const bfloat16>& b, T beta,
                                                  const MatrixView<T>& c) const requires std::same_as<T, float> {
  constexpr const char* operation = "sparse.spmm";
  checks::input(operation, "B", executor_, b);
  checks::output(operation, "C", executor_, c);
  checks::shape(operation, "B", b, columns(), c.columns());
  checks::shape(operation, "C", c, rows(), b.columns());
  const layout::Dim in[] = {{b.rows(), b.row_stride()}, {b.columns(), b.column_stride()}},
                    out[] = {{c.rows(), c.row_stride()}, {c.columns(), c.column_stride()}};
  if (b.rows() > 0 && c.rows() > 0 && c.columns() > 0)
    operands::check_apart(operation, "B", {reinterpret_cast<std::uintptr_t>(b.data()), 2, in}, "C",
                          {reinterpret_cast<std::uintptr_t>(c.data()), sizeof(T), out});
  const Kernel kernel = report().kernel;
  if (executor_.family() != Family::Device || (kernel != Kernel::Resident && kernel != Kernel::Pinned) ||
      data_->options.precision.has_target() || data_->accuracy->mode != Mode::Bf16)
    fail<NotImplemented>(
        "{}: B in bfloat16 needs a plan on a device with kernel 'resident' or 'pinned' and mode bf16; this one has "
        "'{}': convert B to float32, or make such a plan",
        operation, name(kernel));
  const MatrixView<const T> none(executor_, nullptr, 0, 0, 1, 1);
  dispatch(kSpmm<T>, executor_, SpmmArgs<T>{data_.get(), alpha, none, beta, c, {}, &b});
  return accuracy_of(*data_, alpha == T(1) && beta == T(0));
}

template <Scalar T> Accuracy SpmmPlan<T>::execute_batched(T alpha, const blas::ConstMatrix<T>& b, std::int64_t b_step,
                                                          T beta, const MatrixView<T>& c, std::int64_t c_step,
                                                          std::int64_t count, Workspace workspace) const {
  constexpr const char* operation = "sparse.spmm batched";
  require(count >= 0, "{}: {} problems; there must be >= 0", operation, count);
  checks::input(operation, "B", executor_, b);
  checks::input(operation, "C", executor_, c);
  for (const std::int64_t step : {b_step, c_step}) {
    std::int64_t last = 0;
    const bool too_far = count > 1 && (__builtin_mul_overflow(count - 1, step, &last) ||
                                       __builtin_mul_overflow(last, std::int64_t{sizeof(T)}, &last));
    require(!too_far, "{}: {} problems {} elements apart are more than an address space has", operation, count, step);
  }
  const layout::Dim dims[] = {{c.rows(), c.row_stride()}, {c.columns(), c.column_stride()}, {count, c_step}};
  operands::check_distinct(operation, "C", dims);
  Accuracy accuracy = accuracy_of(*data_, alpha == T(1) && beta == T(0));
  for (std::int64_t k = 0; k < count; ++k) {
    accuracy = execute(
        alpha,
        MatrixView<const T>(executor_, b.data() + k * b_step, b.rows(), b.columns(), b.row_stride(), b.column_stride()),
        beta, MatrixView<T>(executor_, c.data() + k * c_step, c.rows(), c.columns(), c.row_stride(), c.column_stride()),
        workspace);
  }
  return accuracy;
}

template <Scalar T> SpmmPlan<T> SpmmPlan<T>::with_values(const VectorView<const T>& values) const {
  SpmmOptions options = data_->options;
  options.kernel = data_->report.kernel;
  return std::visit(
      [&](const auto& a) {
        if constexpr (std::same_as<std::decay_t<decltype(a)>, Dia<T>>) {
          operands::check_owner("sparse.spmm.with_values", "values", executor_, values.executor());
          require(values.stride() == 1, "sparse.spmm.with_values: values of diagonals must be contiguous");
          const Array<T> here(Executor::host(), {values.size()});
          copy(View<const T>(executor_, values.data(), {values.size()}), here.view());
          return SpmmPlan(
              executor_,
              Dia<T>(executor_, a.extents(), a.offsets(), {here.data(), static_cast<std::size_t>(values.size())}),
              options);
        } else {
          return SpmmPlan(executor_, a.with_values(values), options);
        }
      },
      data_->source.held());
}

template <Scalar T>
Array<T> spmv(const Executor& executor, const AnySparse<T>& a, const blas::ConstVector<T>& x, Op op) {
  const SpmmPlan<T> plan(executor, a, {.op = op});
  Array<T> y(executor, {plan.rows()});
  plan.execute(T(1), MatrixView<const T>(x.executor(), x.data(), x.size(), 1, x.stride(), 1), T(0),
               MatrixView<T>(executor, y.data(), plan.rows(), 1, 1, 1));
  return y;
}

template <Scalar T>
Matrix<T> spmm(const Executor& executor, const AnySparse<T>& a, const blas::ConstMatrix<T>& b, Op op) {
  const SpmmPlan<T> plan(executor, a, {.op = op, .columns = b.columns()});
  Matrix<T> c(executor, plan.rows(), b.columns());
  plan.execute(T(1), b, T(0), c.view());
  return c;
}

template <Scalar T>
SparseOperator<T>::SparseOperator(const Executor& executor, const AnySparse<T>& a, const OperatorOptions& o)
    : plan_(executor, a, {.op = Op::N, .columns = o.columns, .kernel = o.kernel}),
      most_columns_(o.columns),
      work_(executor, 0) {
  if (o.adjoint) {
    transposed_.emplace(executor, a, SpmmOptions{.op = Op::T, .columns = o.columns, .kernel = Kernel::Automatic});
    if constexpr (ComplexScalar<T>)
      adjoint_.emplace(executor, a, SpmmOptions{.op = Op::C, .columns = o.columns, .kernel = Kernel::Automatic});
  }
  const std::int64_t there = transposed_ ? transposed_->workspace_bytes(o.columns) : 0;
  work_ = Buffer(executor, std::max<std::int64_t>(64, std::max(plan_.workspace_bytes(o.columns), there)));
}

template <Scalar T>
void SparseOperator<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  require(x.columns() <= most_columns_, "sparse.operator: {} columns, but it was made for {}", x.columns(),
          most_columns_);
  const auto& other = op == Op::C && ComplexScalar<T> ? adjoint_ : transposed_;
  require(op == Op::N || other, "sparse.operator: made without its adjoint; set OperatorOptions::adjoint");
  const SpmmPlan<T>& plan = op == Op::N ? plan_ : *other;
  plan.execute(alpha, x, beta, y, {{static_cast<std::byte*>(work_.data()), static_cast<std::size_t>(work_.bytes())}});
}

template <Scalar T> BlockTiles SparseOperator<T>::block_tiles() const requires std::same_as<T, float> {
  return spmm_block_tiles(plan_);
}

#define TRN_SPMM(T)                                                                              \
  template class SpmmPlan<T>;                                                                    \
  template class SparseOperator<T>;                                                              \
  template AnySparse<T> reordered(const AnySparse<T>&, Reorder, std::optional<Permutation>&);    \
  template Array<T> spmv(const Executor&, const AnySparse<T>&, const blas::ConstVector<T>&, Op); \
  template Matrix<T> spmm(const Executor&, const AnySparse<T>&, const blas::ConstMatrix<T>&, Op);
TRN_SPARSE_SCALARS(TRN_SPMM)
#undef TRN_SPMM

}  // namespace trn::sparse
