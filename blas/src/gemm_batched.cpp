// The entry points of batched gemm. All three forms become groups: products of one shape, ops and layout folded into
// strides. Groups in which nothing is to be done are dropped here, and alpha = 0 becomes k = 0.
#include <trn/blas/gemm_batched.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <trn/blas/gemm_batched_program.hpp>

#include "fold.hpp"
#include "gemm_target.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

// Strides (along rows, along columns) of a stored rows x columns matrix.
struct Stored {
  std::int64_t row_stride, column_stride;
};
Stored stored(const char* operation, const char* name, Layout layout, std::int64_t rows, std::int64_t columns,
              std::int64_t ld) {
  const bool row_major = layout == Layout::RowMajor;
  const std::int64_t line = row_major ? columns : rows;
  require(ld == 0 || ld >= line,
          "{}: the leading dimension of {} is {}, its lines have {} elements; use at least that, or 0 for packed",
          operation, name, ld, line);
  const std::int64_t step = ld ? ld : std::max<std::int64_t>(1, line);
  return row_major ? Stored{step, 1} : Stored{1, step};
}

template <class T> BatchGroup group_of(const char* operation, const BatchShape& s, T alpha, T beta, std::int64_t first,
                                       std::int64_t count) {
  checks::enumerators(operation, s.layout, s.op_a, s.op_b);
  require(s.m >= 0 && s.n >= 0 && s.k >= 0, "{}: m, n, k are {}, {}, {}; none may be negative", operation, s.m, s.n,
          s.k);
  require(count >= 0, "{}: the count is {}; it must be >= 0", operation, count);
  const bool na = s.op_a == Op::N, nb = s.op_b == Op::N;
  const Stored a = stored(operation, "A", s.layout, na ? s.m : s.k, na ? s.k : s.m, s.lda);
  const Stored b = stored(operation, "B", s.layout, nb ? s.k : s.n, nb ? s.n : s.k, s.ldb);
  const Stored c = stored(operation, "C", s.layout, s.m, s.n, s.ldc);
  const bool nothing = alpha == T(0) || s.k == 0;  // C_p = beta C_p: no A, B or alpha is read
  BatchGroup g{s.m,
               s.n,
               nothing ? 0 : s.k,
               a.row_stride,
               a.column_stride,
               b.row_stride,
               b.column_stride,
               c.row_stride,
               c.column_stride};
  if (!na) std::swap(g.am, g.ak);
  if (!nb) std::swap(g.bk, g.bn);
  g.conj_a = conjugates<T>(s.op_a), g.conj_b = conjugates<T>(s.op_b);
  g.alpha = nothing ? T(0) : alpha, g.beta = beta;
  g.first = first, g.count = count;
  return g;
}

bool idle(const BatchGroup& g) { return g.m == 0 || g.n == 0 || g.count == 0 || (g.k == 0 && g.beta == 1.0); }

template <class T> void worsen(Accuracy& accuracy, Family family, const BatchShape& s) {
  accuracy.bound = std::max(accuracy.bound, gemm_error_bound(family, dtype_of<T>, dtype_of<T>, s.k));
}

// The C_p of a strided batch are apart when whole matrices follow one another, or when their lines lie side by side.
void check_strided(const BatchGroup& g, std::int64_t stride) {
  const std::int64_t line = g.cm == 1 ? g.m : g.n, lines = g.cm == 1 ? g.n : g.m, ld = g.cm == 1 ? g.cn : g.cm,
                     step = std::abs(stride);
  require(g.count == 1 || step >= ld * (lines - 1) + line || (step >= line && ld >= step * (g.count - 1) + line),
          "blas.gemm_strided_batched: stride_c is {}, but a C of {} lines of {} with leading dimension {} covers {} "
          "elements, so the {} results "
          "overlap; use a larger stride",
          stride, lines, line, ld, ld * (lines - 1) + line, g.count);
}

template <class T>
void check_lists(const char* operation, const BatchGroup& g, const T* const* a, const T* const* b, T* const* c) {
  bool increasing = true;
  for (std::int64_t p = g.first; p < g.first + g.count; ++p) {
    require(c[p] != nullptr && (g.k == 0 || (a[p] != nullptr && b[p] != nullptr)),
            "{}: an address of product {} is null; give it memory", operation, p);
    require(g.k == 0 || (c[p] != a[p] && c[p] != b[p]),
            "{}: C of product {} starts where its A or B does; give it memory of its own", operation, p);
    increasing = increasing && (p == g.first || c[p] > c[p - 1]);
  }
  if (increasing) return;
  std::vector<const T*> sorted(c + g.first, c + g.first + g.count);
  std::sort(sorted.begin(), sorted.end());
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "{}: two products have the same C; each needs its own", operation);
}

GemmArgs product_of(const GemmBatchArgs& args, const BatchGroup& g, std::int64_t p) {
  return {args.dtype, args.dtype,      g.m,  g.n,  g.k,     args.a_of(g, p), g.am,     g.ak,    args.b_of(g, p), g.bk,
          g.bn,       args.c_of(g, p), g.cm, g.cn, g.alpha, g.beta,          g.conj_a, g.conj_b};
}

// Each product a gemm of its own, in copies of the C_p: one that is refused leaves all of them as they were. `read`
// holds what was read of the first products' operands.
template <class T> void by_products(const char* operation, const Executor& executor, const GemmBatchArgs& args,
                                    std::vector<ReadOperands> read = {}) {
  std::vector<Matrix<T>> results;
  Accuracy worst{Mode::Native, 0, 0};
  const auto each = [&](auto f) {
    for (const BatchGroup& g : args.groups) {
      for (std::int64_t p = 0; p < g.count; ++p) f(product_of(args, g, p));
    }
  };
  const auto c_of = [&](const GemmArgs& g) {
    return View<T>(MatrixView<T>(executor, static_cast<T*>(g.c), g.m, g.n, g.cm, g.cn));
  };
  each([&](GemmArgs g) {
    Matrix<T> c(executor, g.m, g.n);
    if (g.beta != 0.0)
      copy(View<const T>(MatrixView<const T>(executor, static_cast<const T*>(g.c), g.m, g.n, g.cm, g.cn)),
           View<T>(c.view()));
    g.c = c.data(), g.cm = g.n, g.cn = 1;
    const std::size_t p = results.size();
    const Accuracy one = args.precision.has_target()
                             ? gemm_to_target(operation, executor, g, {args.precision, {}},
                                              p < read.size() ? std::move(read[p]) : read_operands(executor, g))
                             : exact_gemm(operation, executor, g, {}, 0);
    if (one.passes >= worst.passes) worst.mode = one.mode, worst.passes = one.passes;
    worst.bound = std::max(worst.bound, one.bound);
    results.push_back(std::move(c));
  });
  auto result = results.begin();
  each([&](const GemmArgs& g) { copy(View<const T>(MatrixView<const T>((result++)->view())), c_of(g)); });
  *args.accuracy = worst;
}

// The cheapest mode of the device's program that meets a target for these operands; none when there is none. Operands
// are read into `read` product by product, as far as a mode is left.
std::optional<Accuracy> mode_for_target(const Executor& executor, const GemmBatchArgs& args,
                                        std::vector<ReadOperands>& read) {
  constexpr std::array kModes{Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native};
  std::array<double, kModes.size()> bounds{};
  const double target = args.precision.target_error();
  const auto meets = [&](double bound) { return bound <= target; };
  for (const BatchGroup& g : args.groups) {
    for (std::int64_t p = 0; p < g.count; ++p) {
      const GemmArgs one = product_of(args, g, p);
      read.push_back(read_operands(executor, one));
      read_c(executor, one, read.back());
      for (std::size_t i = 0; i < kModes.size(); ++i) {
        bounds[i] = std::max(
            bounds[i], bound_in_range(gemm_batched_error_bound(kModes[i], one.k), one, kModes[i], read.back().sizes));
      }
      if (std::ranges::none_of(bounds, meets)) return std::nullopt;
    }
  }
  const auto i = static_cast<std::size_t>(std::ranges::find_if(bounds, meets) - bounds.begin());
  return Accuracy{kModes[i], passes_of(kModes[i]), bounds[i]};
}

// Targets, and on a device Exact, beside what the kernels have.
template <class T> void run(const char* operation, const Executor& executor, GemmBatchArgs args) {
  const bool device = executor.family() == Family::Device;
  if (args.precision.has_target()) {
    std::vector<ReadOperands> read;
    const auto chosen = device && args.dtype == DType::Float32 ? mode_for_target(executor, args, read) : std::nullopt;
    if (!chosen) return by_products<T>(operation, executor, args, std::move(read));
    args.precision = chosen->mode;
    dispatch(kGemmBatched, executor, args);
    *args.accuracy = *chosen;
    return;
  }
  if (device && args.precision.mode() == Mode::Exact) return by_products<T>(operation, executor, args);
  dispatch(kGemmBatched, executor, args);
}

}  // namespace

template <Scalar T> Accuracy gemm_strided_batched(const Executor& executor, const BatchShape& shape, Number<T> alpha,
                                                  std::type_identity_t<const T*> a, std::int64_t stride_a,
                                                  std::type_identity_t<const T*> b, std::int64_t stride_b,
                                                  Number<T> beta, T* c, std::int64_t stride_c, std::int64_t count,
                                                  const ProductOptions& options) {
  constexpr const char* kOperation = "blas.gemm_strided_batched";
  checks::enumerators(kOperation, options.precision);
  const BatchGroup g = group_of<T>(kOperation, shape, alpha, beta, 0, count);
  Accuracy accuracy;
  worsen<T>(accuracy, executor.family(), shape);
  if (idle(g)) return accuracy;
  checks::check_address(kOperation, "A", a, g.k == 0);
  checks::check_address(kOperation, "B", b, g.k == 0);
  checks::check_address(kOperation, "C", c, false);
  require(g.k == 0 || (c != a && c != b), "{}: C starts where A or B does; give it memory of its own", kOperation);
  check_strided(g, stride_c);
  run<T>(kOperation, executor,
         {dtype_of<T>,
          {&g, 1},
          a,
          b,
          c,
          stride_a,
          stride_b,
          stride_c,
          nullptr,
          nullptr,
          nullptr,
          options.precision,
          &accuracy});
  return accuracy;
}

template <Scalar T> Accuracy gemm_grouped_batched(const Executor& executor,
                                                  std::type_identity_t<std::span<const GemmGroup<T>>> groups,
                                                  std::type_identity_t<std::span<const T* const>> a,
                                                  std::type_identity_t<std::span<const T* const>> b,
                                                  std::span<T* const> c, const ProductOptions& options) {
  constexpr const char* kOperation = "blas.gemm_batched";
  checks::enumerators(kOperation, options.precision);
  std::vector<BatchGroup> folded;
  Accuracy accuracy;
  std::int64_t first = 0;
  for (const GemmGroup<T>& group : groups) {
    folded.push_back(group_of<T>(kOperation, group.shape, group.alpha, group.beta, first, group.count));
    worsen<T>(accuracy, executor.family(), group.shape);
    first += group.count;
  }
  const auto total = static_cast<std::size_t>(first);
  require(a.size() == total && b.size() == total && c.size() == total,
          "{}: {} products but {} addresses of A, {} of B and {} of C; give one of each per product", kOperation, first,
          a.size(), b.size(), c.size());
  std::erase_if(folded, idle);
  for (const BatchGroup& g : folded) check_lists<T>(kOperation, g, a.data(), b.data(), c.data());
  if (folded.empty()) return accuracy;
  // A list of T* read as a list of void*: the same addresses.
  const std::vector<const void*> la(a.begin(), a.end()), lb(b.begin(), b.end());
  const std::vector<void*> lc(c.begin(), c.end());
  run<T>(kOperation, executor,
         {dtype_of<T>, folded, nullptr, nullptr, nullptr, 0, 0, 0, la.data(), lb.data(), lc.data(), options.precision,
          &accuracy});
  return accuracy;
}

template <Scalar T> Accuracy gemm_batched(const Executor& executor, const BatchShape& shape, Number<T> alpha,
                                          std::type_identity_t<std::span<const T* const>> a,
                                          std::type_identity_t<std::span<const T* const>> b, Number<T> beta,
                                          std::span<T* const> c, const ProductOptions& options) {
  const GemmGroup<T> group{shape, alpha, beta, static_cast<std::int64_t>(c.size())};
  return gemm_grouped_batched<T>(executor, {&group, 1}, a, b, c, options);
}

// A type is not put into parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TRN_BATCHED(T)                                                                                                 \
  template Accuracy gemm_strided_batched<T>(const Executor&, const BatchShape&, Number<T>, const T*, std::int64_t,     \
                                            const T*, std::int64_t, Number<T>, T*, std::int64_t, std::int64_t,         \
                                            const ProductOptions&);                                                    \
  template Accuracy gemm_batched<T>(const Executor&, const BatchShape&, Number<T>, std::span<const T* const>,          \
                                    std::span<const T* const>, Number<T>, std::span<T* const>, const ProductOptions&); \
  template Accuracy gemm_grouped_batched<T>(const Executor&, std::span<const GemmGroup<T>>, std::span<const T* const>, \
                                            std::span<const T* const>, std::span<T* const>, const ProductOptions&);
TRN_BATCHED(float)
TRN_BATCHED(double)
TRN_BATCHED(std::complex<float>)
TRN_BATCHED(std::complex<double>)
#undef TRN_BATCHED
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace trn::blas
