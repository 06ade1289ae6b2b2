// Batches of band systems: Thomas's algorithm across systems, and banded elimination with partial pivoting.
#include <trn/sparse/tridiagonal.hpp>

#include <algorithm>
#include <array>

#include <trn/core/parallel.hpp>

#include "checks.hpp"
#include "host/triangle.hpp"
#include "host_data.hpp"
#include "scalars.hpp"
#include "tridiagonal_kernels.hpp"

namespace trn::sparse {

namespace {

template <Scalar T> T element(const MatrixView<const T>& a, std::int64_t i, std::int64_t k) {
  return a.data()[i * a.row_stride() + k * a.column_stride()];
}
template <Scalar T> T& element(const MatrixView<T>& a, std::int64_t i, std::int64_t k) {
  return a.data()[i * a.row_stride() + k * a.column_stride()];
}

// One system with kl = ku = kBand diagonals on either side, partial pivoting: U then has 2 kBand diagonals above. Row i
// holds the elements of columns i to i + 2 kBand; `rows` is scratch. False: a pivot is zero or not finite.
template <int kBand, Scalar T, class Get> bool eliminate(std::int64_t n, const Get& band, const MatrixView<T>& b,
                                                         std::int64_t k,
                                                         std::vector<std::array<T, 2 * kBand + 1>>& rows) {
  constexpr int kWidth = 2 * kBand + 1;
  rows.resize(static_cast<std::size_t>(n));
  // Rows that have not been a pivot yet, as they stand from column `column` on; at most kBand + 1 of them are touched.
  std::array<std::array<T, kWidth>, kBand + 1> active{};
  std::array<T, kBand + 1> right{};
  std::int64_t entered = 0;
  const auto enter = [&](std::int64_t column) {
    const auto slot = static_cast<std::size_t>(entered - column);
    for (int q = 0; q < kWidth; ++q) {
      const std::int64_t j = column + q, d = j - entered;
      active[slot][static_cast<std::size_t>(q)] =
          j < n && d >= -kBand && d <= kBand ? band(entered, static_cast<int>(d)) : T(0);
    }
    right[slot] = element(b, entered, k);
    ++entered;
  };
  for (std::int64_t column = 0; column < n; ++column) {
    while (entered < n && entered <= column + kBand) enter(column);
    const auto count = static_cast<std::size_t>(entered - column);
    std::size_t pivot = 0;
    for (std::size_t r = 1; r < count; ++r) {
      if (std::abs(active[r][0]) > std::abs(active[pivot][0])) pivot = r;
    }
    std::swap(active[0], active[pivot]), std::swap(right[0], right[pivot]);
    if (!host::usable_pivot(active[0][0])) return false;
    for (std::size_t r = 1; r < count; ++r) {
      const T factor = active[r][0] / active[0][0];
      for (std::size_t q = 1; q < kWidth; ++q) active[r][q] -= host::times(factor, active[0][q]);
      right[r] -= host::times(factor, right[0]);
    }
    rows[static_cast<std::size_t>(column)] = active[0];
    element(b, column, k) = right[0];
    for (std::size_t r = 1; r < count; ++r) {  // the others move up, and one column to the left
      std::copy(active[r].begin() + 1, active[r].end(), active[r - 1].begin());
      active[r - 1][kWidth - 1] = T(0);
      right[r - 1] = right[r];
    }
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    T sum = element(b, i, k);
    const auto& row = rows[static_cast<std::size_t>(i)];
    for (std::int64_t q = 1; q < kWidth && i + q < n; ++q)
      sum -= host::times(row[static_cast<std::size_t>(q)], element(b, i + q, k));
    element(b, i, k) = sum / row[0];
  }
  return true;
}

template <Scalar T> void fail_system(const MatrixView<T>& b, std::int64_t k) {
  for (std::int64_t i = 0; i < b.rows(); ++i) element(b, i, k) = T(std::numeric_limits<Real<T>>::quiet_NaN());
}

// bad[k] marks systems in trouble; they become NaN.
template <Scalar T> Outcome finish(const MatrixView<T>& b, const std::vector<char>& bad) {
  Outcome outcome;
  for (std::size_t k = bad.size(); k-- > 0;) {
    if (bad[k] == 0) continue;
    outcome = {Status::ZeroPivot, static_cast<std::int64_t>(k)};
    fail_system(b, static_cast<std::int64_t>(k));
  }
  return outcome;
}

template <Scalar T> void check_band(const char* operation, const Executor& executor,
                                    std::initializer_list<const MatrixView<const T>*> diagonals,
                                    const MatrixView<T>& b) {
  checks::output(operation, "B", executor, b);
  for (const MatrixView<const T>* d : diagonals) {
    checks::input(operation, "a diagonal", executor, *d);
    checks::shape(operation, "a diagonal", *d, b.rows(), b.columns());
    checks::apart(operation, "a diagonal", *d, "B", b);
  }
  if (!std::same_as<T, float>) host_only(operation, executor);
}

constexpr std::int64_t kTogether = 16;  // systems that run side by side without pivoting

}  // namespace

template <Scalar T> Outcome solve_tridiagonal(const Executor& executor,
                                              const std::type_identity_t<MatrixView<const T>>& lower,
                                              const std::type_identity_t<MatrixView<const T>>& diagonal,
                                              const std::type_identity_t<MatrixView<const T>>& upper,
                                              const MatrixView<T>& b, Pivoting pivoting) {
  constexpr const char* operation = "sparse.tridiagonal";
  check_band<T>(operation, executor, {&lower, &diagonal, &upper}, b);
  if (executor.family() == Family::Device) {
    if (pivoting == Pivoting::Partial)
      fail<NotImplemented>("{}: a device has no pivoting; ask for Pivoting::None, or solve on the host", operation);
    return TridiagonalPlan<T>(executor, lower, diagonal, upper).solve(b);
  }
  const std::int64_t n = b.rows(), count = b.columns();
  std::vector<char> bad(static_cast<std::size_t>(count), 0);
  if (pivoting == Pivoting::Partial) {
    for_ranges(count, loop_threads(n * count >= (1 << 14)), [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<std::array<T, 3>> rows;
      for (std::int64_t k = begin; k < end; ++k) {
        const auto band = [&](std::int64_t i, int d) {
          return element(d < 0 ? lower : d == 0 ? diagonal : upper, i, k);
        };
        bad[static_cast<std::size_t>(k)] = !eliminate<1>(n, band, b, k, rows);
      }
    });
    return finish(b, bad);
  }
  const std::int64_t groups = (count + kTogether - 1) / kTogether;
  parallel_for(groups, n * count >= (1 << 14), [&](std::int64_t g) {
    const std::int64_t first = g * kTogether, width = std::min(kTogether, count - first);
    std::vector<T> factor(static_cast<std::size_t>(n * kTogether));  // upper / pivot
    T pivot[kTogether], before[kTogether] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      T* row = factor.data() + i * kTogether;
      for (std::int64_t s = 0; s < width; ++s) {
        const std::int64_t k = first + s;
        const T low = i > 0 ? element(lower, i, k) : T(0);
        pivot[s] = element(diagonal, i, k) - (i > 0 ? host::times(low, row[s - kTogether]) : T(0));
        if (!host::usable_pivot(pivot[s])) bad[static_cast<std::size_t>(k)] = 1;
        row[s] = i + 1 < n ? element(upper, i, k) / pivot[s] : T(0);
        before[s] = (element(b, i, k) - host::times(low, before[s])) / pivot[s];
        element(b, i, k) = before[s];
      }
    }
    for (std::int64_t i = n - 2; i >= 0; --i) {
      for (std::int64_t s = 0; s < width; ++s)
        element(b, i, first + s) -=
            host::times(factor[static_cast<std::size_t>(i * kTogether + s)], element(b, i + 1, first + s));
    }
  });
  return finish(b, bad);
}

template <Scalar T>
Outcome solve_pentadiagonal(const Executor& executor, const std::type_identity_t<MatrixView<const T>>& lower2,
                            const std::type_identity_t<MatrixView<const T>>& lower,
                            const std::type_identity_t<MatrixView<const T>>& diagonal,
                            const std::type_identity_t<MatrixView<const T>>& upper,
                            const std::type_identity_t<MatrixView<const T>>& upper2, const MatrixView<T>& b) {
  check_band<T>("sparse.pentadiagonal", executor, {&lower2, &lower, &diagonal, &upper, &upper2}, b);
  host_only("sparse.pentadiagonal", executor);
  const std::int64_t n = b.rows(), count = b.columns();
  std::vector<char> bad(static_cast<std::size_t>(count), 0);
  for_ranges(count, loop_threads(n * count >= (1 << 13)), [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<std::array<T, 5>> rows;
    for (std::int64_t k = begin; k < end; ++k) {
      const MatrixView<const T>* diagonals[] = {&lower2, &lower, &diagonal, &upper, &upper2};
      const auto band = [&](std::int64_t i, int d) { return element(*diagonals[d + 2], i, k); };
      bad[static_cast<std::size_t>(k)] = !eliminate<2>(n, band, b, k, rows);
    }
  });
  return finish(b, bad);
}

namespace detail {
// q = 1 / pivot, l = lower / pivot and u = upper / pivot, element i of system k at k * n + i.
template <Scalar T> struct TridiagonalData {
  Outcome outcome = {};
  std::vector<char> bad = {};             // systems
  std::vector<T> q = {}, l = {}, u = {};  // the host's
  TridiagonalReport report = {};
  std::shared_ptr<const void> state = {};  // a device's
};
}  // namespace detail

namespace {

template <Scalar T> using Wide = std::conditional_t<ComplexScalar<T>, std::complex<double>, double>;

template <class T> Array<T> at_home(const Executor& executor, const MatrixView<const T>& x) {
  Array<T> here(Executor::host(), {x.rows(), x.columns()});
  copy(View<const T>(executor, x.data(), {x.rows(), x.columns()}, {x.row_stride(), x.column_stride()}), here.view());
  return here;
}

template <Scalar T> void factor(const MatrixView<const T>& lower, const MatrixView<const T>& diagonal,
                                const MatrixView<const T>& upper, detail::TridiagonalData<T>& f) {
  const std::int64_t n = diagonal.rows(), count = diagonal.columns();
  f.bad.assign(static_cast<std::size_t>(count), 0);
  for (auto* v : {&f.q, &f.l, &f.u}) v->assign(static_cast<std::size_t>(n * count), T(0));
  parallel_for(count, n * count >= (1 << 14), [&](std::int64_t k) {
    Wide<T> above(0);  // u of the row before
    bool good = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const Wide<T> low = i > 0 ? Wide<T>(element(lower, i, k)) : Wide<T>(0);
      const Wide<T> pivot = Wide<T>(element(diagonal, i, k)) - host::times(low, above);
      above = i + 1 < n ? Wide<T>(element(upper, i, k)) / pivot : Wide<T>(0);
      const auto at = static_cast<std::size_t>(k * n + i);
      f.q[at] = static_cast<T>(Wide<T>(1) / pivot), f.l[at] = static_cast<T>(low / pivot);
      f.u[at] = static_cast<T>(above);
      good = good && host::usable_pivot(pivot);
      for (const T x : {f.q[at], f.l[at], f.u[at]}) good = good && std::isfinite(std::abs(x));
    }
    if (good) return;
    f.bad[static_cast<std::size_t>(k)] = 1;
    for (auto* v : {&f.q, &f.l, &f.u}) std::fill_n(v->begin() + k * n, n, T(0));
  });
  for (std::size_t k = f.bad.size(); k-- > 0;) {
    if (f.bad[k] != 0) f.outcome = {Status::ZeroPivot, static_cast<std::int64_t>(k)};
  }
}

}  // namespace

template <Scalar T>
TridiagonalPlan<T>::TridiagonalPlan(const Executor& executor, const std::type_identity_t<MatrixView<const T>>& lower,
                                    const std::type_identity_t<MatrixView<const T>>& diagonal,
                                    const std::type_identity_t<MatrixView<const T>>& upper)
    : executor_(executor), n_(diagonal.rows()), count_(diagonal.columns()) {
  constexpr const char* operation = "sparse.tridiagonal.plan";
  for (const auto* d : {&lower, &diagonal, &upper}) {
    checks::input(operation, "a diagonal", executor, *d);
    checks::shape(operation, "a diagonal", *d, n_, count_);
  }
  if (!std::same_as<T, float>) host_only(operation, executor);
  auto data = std::make_shared<detail::TridiagonalData<T>>();
  data_ = data;
  if (executor.family() == Family::Host) {
    factor(lower, diagonal, upper, *data);
    return;
  }
  const Array<T> l = at_home<T>(executor, lower), d = at_home<T>(executor, diagonal), u = at_home<T>(executor, upper);
  const auto view = [&](const Array<T>& a) {
    return MatrixView<const T>(Executor::host(), a.data(), n_, count_, std::max<std::int64_t>(1, count_), 1);
  };
  factor(view(l), view(d), view(u), *data);
  if constexpr (std::same_as<T, float>) {
    if (n_ > 0 && count_ > 0) {
      TridiagonalMade made = dispatch(kTridiagonalPlan, executor,
                                      TridiagonalFactors{n_, count_, data->q.data(), data->l.data(), data->u.data()});
      data->report = made.report, data->state = std::move(made.state);
    }
    for (auto* v : {&data->q, &data->l, &data->u}) *v = {};
  }
}

namespace {

template <Scalar T> struct HostSolve {
  const detail::TridiagonalData<T>* factors;
  std::int64_t n, count;
  MatrixView<T> b;
};
template <Scalar T> void solve_on_host(const Executor&, const HostSolve<T>& g) {
  const std::int64_t groups = (g.count + kTogether - 1) / kTogether;
  parallel_for(groups, g.n * g.count >= (1 << 14), [&](std::int64_t part) {
    const std::int64_t first = part * kTogether, width = std::min(kTogether, g.count - first);
    T before[kTogether] = {};
    const auto at = [&](std::int64_t i, std::int64_t s) { return static_cast<std::size_t>((first + s) * g.n + i); };
    for (std::int64_t i = 0; i < g.n; ++i) {
      for (std::int64_t s = 0; s < width; ++s) {
        T& x = element(g.b, i, first + s);
        x = before[s] = host::times(g.factors->q[at(i, s)], x) - host::times(g.factors->l[at(i, s)], before[s]);
      }
    }
    std::fill_n(before, kTogether, T(0));
    for (std::int64_t i = g.n - 1; i >= 0; --i) {
      for (std::int64_t s = 0; s < width; ++s) {
        T& x = element(g.b, i, first + s);
        x = before[s] = x - host::times(g.factors->u[at(i, s)], before[s]);
      }
    }
  });
}
template <Scalar T> inline constexpr KernelTable<HostSolve<T>> kHostSolve{"sparse.tridiagonal.solve", solve_on_host<T>};

}  // namespace

template <Scalar T> Outcome TridiagonalPlan<T>::solve(const MatrixView<T>& b) const {
  constexpr const char* operation = "sparse.tridiagonal.solve";
  checks::output(operation, "B", executor_, b);
  checks::shape(operation, "B", b, n_, count_);
  const detail::TridiagonalData<T>& f = *data_;
  if (n_ == 0 || count_ == 0) return f.outcome;
  if constexpr (std::same_as<T, float>) {
    if (executor_.family() == Family::Device) {
      dispatch(kTridiagonalSolve, executor_, TridiagonalSolveArgs{f.state.get(), b});
      const Array<T> nan = Array<T>::from_host(
          executor_, {n_}, std::vector<T>(static_cast<std::size_t>(n_), std::numeric_limits<T>::quiet_NaN()));
      for (std::int64_t k = 0; f.outcome.status != Status::Ok && k < count_; ++k) {
        if (f.bad[static_cast<std::size_t>(k)] == 0) continue;
        copy(View<const T>(executor_, nan.data(), {n_}),
             View<T>(executor_, b.data() + k * b.column_stride(), {n_}, {b.row_stride()}));
      }
      return f.outcome;
    }
  }
  dispatch(kHostSolve<T>, executor_, HostSolve<T>{&f, n_, count_, b});
  return finish(b, f.bad);
}
template <Scalar T> const Outcome& TridiagonalPlan<T>::outcome() const { return data_->outcome; }
template <Scalar T> const TridiagonalReport& TridiagonalPlan<T>::report() const { return data_->report; }

#define TRN_TRIDIAGONAL(T)                                                                                   \
  template class TridiagonalPlan<T>;                                                                         \
  template Outcome solve_tridiagonal(const Executor&, const std::type_identity_t<MatrixView<const T>>&,      \
                                     const std::type_identity_t<MatrixView<const T>>&,                       \
                                     const std::type_identity_t<MatrixView<const T>>&, const MatrixView<T>&, \
                                     Pivoting);                                                              \
  template Outcome solve_pentadiagonal(const Executor&, const std::type_identity_t<MatrixView<const T>>&,    \
                                       const std::type_identity_t<MatrixView<const T>>&,                     \
                                       const std::type_identity_t<MatrixView<const T>>&,                     \
                                       const std::type_identity_t<MatrixView<const T>>&,                     \
                                       const std::type_identity_t<MatrixView<const T>>&, const MatrixView<T>&);
TRN_SPARSE_SCALARS(TRN_TRIDIAGONAL)
#undef TRN_TRIDIAGONAL

}  // namespace trn::sparse
