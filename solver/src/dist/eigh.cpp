// eigh on a distributed matrix. With A(k) what is left of A in step k, on whole columns:
//
//   the owner of column k makes its reflection, H = I - tau v v^H, and everybody gets v
//   every rank has (A v)_j for its columns j, from column j alone; everybody gets p = tau A v
//   w = p - tau (p^H v) v / 2, A - v w^H - w v^H when the columns are next read
//   rows of Q = H(0) H(1) ... lie on ranks: 32 reflections at a time are multiplied into them
//
// and then the rotations of QL steps on the tridiagonal matrix, which every rank has, turn the rows of Q.
//
// Ranks with devices: columns of A and the rotations are the hosts'; rows of Q lie on the devices, which multiply the
// reflections into them, and go to the hosts for the rotations. Of a generalised problem everything around that is the
// devices': Cholesky's factor, the solves and products with it.
#include <trn/solver/dist_eigh.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>
#include <trn/comm/agreement.hpp>
#include <trn/solver/dist_cholesky.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "dist/arguments.hpp"
#include "dist/memory.hpp"
#include "dist/products.hpp"
#include "dist/reflections.hpp"
#include "dist/tridiagonal.hpp"

namespace trn::solver {

namespace {

constexpr const char *kEighName = "solver.eigh", *kGeneralizedName = "solver.eigh_generalized";
constexpr std::int64_t kCut = 16;     // columns that lie together on a rank, for an even share of every step
constexpr std::int64_t kPanel = 32;   // reflections that are multiplied at once
constexpr std::int64_t kFactor = 64;  // blocks of B's factor and of what is solved with it
constexpr std::int64_t kRows = 64;    // of Q that lie together on a device: what a call of Exact takes

const char* algorithm_of(const Executor& executor) {
  return executor.family() == Family::Host ? "tridiagonal form, ql"
                                           : "tridiagonal form and ql on the hosts, products on devices";
}

// The whole Hermitian matrix on whole columns, from one triangle: a rank has its columns, and the rows of the same
// numbers for what lies in the other triangle.
template <class T> dist::Matrix<T> mirrored(const dist::Matrix<T>& a, Uplo uplo) {
  const std::int64_t n = a.rows(), all = std::max<std::int64_t>(1, n);
  const int ranks = a.group().size();
  dist::Matrix<T> columns = a.redistributed({n, n, all, kCut, {1, ranks}});
  const dist::Matrix<T> rows = a.redistributed({n, n, kCut, all, {ranks, 1}});
  const dist::Cyclic cut = columns.distribution().column();
  const MatrixView<T> to = columns.local(), across = rows.local();
  for (std::int64_t local = 0; local < to.columns(); ++local) {
    const std::int64_t j = cut.to_global(local, a.group().rank());
    T* column = to.data() + local * to.column_stride();
    const T* row = across.data() + local;
    const std::int64_t begin = uplo == Uplo::Lower ? 0 : j + 1, end = uplo == Uplo::Lower ? j : n;
    for (std::int64_t i = begin; i < end; ++i) column[i] = dist_host::conjugated(row[i * across.column_stride()]);
    column[j] = T(std::real(column[j]));
  }
  return columns;
}

// Of the triangle: the first element that is not finite, row by row, or n * n; and the largest modulus of a part.
template <class T> std::pair<std::int64_t, double> survey(const dist::Matrix<T>& columns, Uplo uplo) {
  const MatrixView<T> x = columns.local();
  const dist::Cyclic cut = columns.distribution().column();
  const std::int64_t n = columns.rows();
  std::int64_t first = n * n;
  double most = 0;
  for (std::int64_t local = 0; local < x.columns(); ++local) {
    const std::int64_t j = cut.to_global(local, columns.group().rank());
    const std::int64_t begin = uplo == Uplo::Lower ? j : 0, end = uplo == Uplo::Lower ? n : j + 1;
    for (std::int64_t i = begin; i < end; ++i) {
      const T& value = x.data()[local * x.column_stride() + i];
      const auto re = static_cast<double>(std::abs(std::real(value))),
                 im = static_cast<double>(std::abs(std::imag(value)));
      if (!std::isfinite(re) || !std::isfinite(im)) first = std::min(first, i * n + j);
      most = std::max({most, re, im});
    }
  }
  return {comm::minimum(columns.group(), first), comm::maximum(columns.group(), most)};
}

template <class T> class Spectrum {
 public:
  // `a` on whole columns, all of it; it is used up. vectors: n x n on whole rows, or null. Both in host memory;
  // `executor` multiplies.
  Spectrum(const dist::Matrix<T>& a, const dist::Matrix<T>* vectors, const Executor& executor)
      : group_(a.group()),
        agreement_(group_),
        executor_(executor),
        products_(executor, kRows),
        n_(a.rows()),
        cut_(a.distribution().column()),
        a_(a.local()),
        vectors_(vectors) {}

  Outcome operator()(std::vector<double>& d, int& steps) {
    const auto size = static_cast<std::size_t>(n_);
    std::vector<double> e;
    const std::int64_t widest = cut_.local_extent(0);
    agreement_.attempt([&] {
      d.assign(size, 0), e.assign(size, 0);
      v_.assign(size, T(0)), w_.assign(size, T(0)), said_.assign(size + 3, T(0));
      mine_.assign(static_cast<std::size_t>(widest), T(0));
      all_.assign(static_cast<std::size_t>(widest * cut_.ranks), T(0));
      if (vectors_ == nullptr) return;
      panel_.assign(static_cast<std::size_t>(n_ * kPanel), T(0));
      product_.assign(static_cast<std::size_t>(2 * vectors_->local().rows() * kPanel), T(0));
      set_identity();
      if (on_host()) return;
      there_.emplace(executor_, Shape{n_, vectors_->local().rows()});
      if (vectors_->local().rows() > 0) copy(View<const T>(rows_here()), there_->view());
    });
    agreement_.settle();
    for (std::int64_t k = 0; k < n_; ++k) {
      const std::int64_t left = n_ - k - 1;
      if (cut_.owner(k) == group_.rank()) make_reflection(k);
      comm::broadcast(group_, cut_.owner(k), view(said_.data(), left + 3));
      d[static_cast<std::size_t>(k)] = static_cast<double>(std::real(said_[0]));
      if (left == 0) break;
      e[static_cast<std::size_t>(k)] = static_cast<double>(std::real(said_[1]));
      step(k, said_[2], said_.data() + 3);
    }
    if (vectors_ != nullptr) {
      multiply_panel();
      agreement_.attempt([&] {
        if (there_ && vectors_->local().rows() > 0) copy(View<const T>(there_->view()), rows_here());
      });
    }
    const auto flush = [&](const std::vector<dist_host::Rotation>& rotations) {
      if (vectors_ == nullptr) return;
      constexpr std::int64_t kParts = blas::ComplexScalar<T> ? 2 : 1;  // rotations are real
      const MatrixView<T> z = vectors_->local();
      if (z.rows() > 0)
        dist_host::rotate(rotations, reinterpret_cast<Real<T>*>(z.data()), kParts * z.rows(),
                          kParts * z.column_stride());
    };
    Outcome outcome;
    agreement_.attempt([&] { outcome = dist_host::ql(d, e, std::numeric_limits<Real<T>>::epsilon(), steps, flush); });
    agreement_.settle();
    return outcome;
  }

 private:
  static View<T> view(T* data, std::int64_t count) { return View<T>(Executor::host(), data, {count}); }
  [[nodiscard]] bool on_host() const { return executor_.family() == Family::Host; }
  // This rank's rows of Q, which are contiguous by columns: Q^T by rows.
  [[nodiscard]] View<T> rows_here() const {
    const MatrixView<T> z = vectors_->local();
    return View<T>(Executor::host(), z.data(), {n_, z.rows()});
  }
  [[nodiscard]] T* column(std::int64_t local) const { return a_.data() + local * a_.column_stride(); }

  void set_identity() {
    const MatrixView<T> z = vectors_->local();
    const dist::Cyclic rows = vectors_->distribution().row();
    for (std::int64_t j = 0; j < z.columns(); ++j) std::fill_n(z.data() + j * z.column_stride(), z.rows(), T(0));
    for (std::int64_t i = 0; i < z.rows(); ++i)
      z.data()[i + rows.to_global(i, group_.rank()) * z.column_stride()] = T(1);
  }

  // said_: d, e, tau and v of step k.
  void make_reflection(std::int64_t k) {
    T* x = column(cut_.to_local(k));
    if (k > 0) dist_host::update(x, v_.data(), w_.data(), k, k, n_);
    said_[0] = T(std::real(x[k]));
    if (k + 1 == n_) return;
    const auto h = dist_host::reflect(x + k + 1, n_ - k - 1);
    said_[1] = T(h.beta);
    said_[2] = h.tau;
    std::copy(x + k + 1, x + n_, said_.data() + 3);
  }

  void step(std::int64_t k, T tau, const T* v) {
    const std::int64_t left = n_ - k - 1;
    for (std::int64_t local = 0; local < a_.columns(); ++local) {
      const std::int64_t j = cut_.to_global(local, group_.rank());
      if (j <= k) continue;
      T* x = column(local);
      if (k > 0) dist_host::update(x, v_.data(), w_.data(), j, k + 1, n_);
      mine_[static_cast<std::size_t>(local)] = dist_host::product(tau, dist_host::dot(x + k + 1, v, left));
    }
    const auto widest = static_cast<std::int64_t>(mine_.size());
    comm::all_gather(group_, View<const T>(Executor::host(), mine_.data(), {widest}),
                     View<T>(Executor::host(), all_.data(), {cut_.ranks, widest}));
    T *to_v = v_.data() + k + 1, *to_w = w_.data() + k + 1;
    for (std::int64_t i = 0; i < left; ++i) {
      const std::int64_t j = k + 1 + i;
      to_v[i] = v[i];
      to_w[i] = all_[static_cast<std::size_t>(cut_.owner(j) * widest + cut_.to_local(j))];
    }
    const T half = dist_host::product(tau, dist_host::dot(to_w, to_v, left)) * static_cast<Real<T>>(-0.5);
    for (std::int64_t i = 0; i < left; ++i) to_w[i] += dist_host::product(half, to_v[i]);
    if (vectors_ == nullptr) return;
    if (taus_.empty()) first_ = k;
    T* into = panel_.data() + static_cast<std::int64_t>(taus_.size()) * n_;
    std::fill_n(into, n_, T(0));
    std::copy_n(v, left, into + k + 1);
    taus_.push_back(tau);
    if (static_cast<std::int64_t>(taus_.size()) == kPanel) multiply_panel();
  }

  // Rows of Q: Z (I - V T V^H).
  void multiply_panel() {
    agreement_.attempt([&] {
      if (taus_.empty() || vectors_->local().rows() == 0) return;
      on_host() ? multiply_here() : multiply_there();
    });
    taus_.clear();
  }
  // Z^T - conj(V) T^T (V^T Z^T): a column for each row of Z.
  void multiply_there() {
    const auto width = static_cast<std::int64_t>(taus_.size());
    const std::int64_t begin = first_ + 1, high = n_ - begin, rows = vectors_->local().rows();
    const MatrixView<const T> v(Executor::host(), panel_.data() + begin, high, width, 1, n_);
    std::vector<T> reflections;
    for (std::int64_t j = 0; j < width; ++j)
      reflections.insert(reflections.end(), panel_.data() + j * n_ + begin, panel_.data() + (j + 1) * n_);
    const auto sent = [&](const std::vector<T>& values) {
      return trn::Array<T>::from_host(executor_, {static_cast<std::int64_t>(values.size())}, values);
    };
    const trn::Array<T> plain = sent(reflections), t = sent(triangular_factor<T>(v, taus_.data()));
    for (T& x : reflections) x = dist_host::conjugated(x);
    const trn::Array<T> conjugate = sent(reflections), x(executor_, {width * rows}), y(executor_, {width * rows});
    const auto tall = [&](const trn::Array<T>& a) {
      return MatrixView<const T>::column_major(executor_, a.data(), high, width);
    };
    const auto flat = [&](const trn::Array<T>& a) {
      return MatrixView<T>::row_major(executor_, a.data(), width, rows);
    };
    const MatrixView<T> part =
        MatrixView<T>::row_major(executor_, there_->data(), n_, rows).block(begin, 0, high, rows);
    products_(Op::T, T(1), tall(plain), part, T(0), flat(x), 0);
    products_(Op::T, T(1), MatrixView<const T>::column_major(executor_, t.data(), width, width), flat(x), T(0), flat(y),
              0);
    products_(Op::N, T(-1), tall(conjugate), flat(y), T(1), part, 0);
  }
  void multiply_here() {
    const auto width = static_cast<std::int64_t>(taus_.size());
    const MatrixView<T> z = vectors_->local();
    const Executor host = Executor::host();
    const std::int64_t begin = first_ + 1, high = n_ - begin;
    const auto v = MatrixView<const T>(host, panel_.data() + begin, high, width, 1, n_);
    const MatrixView<T> part = z.block(0, begin, z.rows(), high);
    const std::vector<T> t = triangular_factor<T>(v, taus_.data());
    const auto x = MatrixView<T>::column_major(host, product_.data(), z.rows(), width),
               y = MatrixView<T>::column_major(host, product_.data() + z.rows() * width, z.rows(), width);
    blas::ordered_gemm<T>(host, Op::N, Op::N, T(1), part, v, T(0), x);
    blas::ordered_gemm<T>(host, Op::N, Op::N, T(1), x, MatrixView<const T>::column_major(host, t.data(), width, width),
                          T(0), y);
    blas::ordered_gemm<T>(host, Op::N, Op::C, T(-1), y, v, T(1), part);
  }

  comm::Communicator group_;
  comm::Agreement agreement_;
  Executor executor_;
  Products<T> products_;
  std::optional<trn::Array<T>> there_;  // rows of Q on the device
  std::int64_t n_;
  dist::Cyclic cut_;
  MatrixView<T> a_;
  const dist::Matrix<T>* vectors_;
  std::vector<T> v_, w_, said_, mine_, all_, panel_, product_, taus_;  // v and w of the step before, by global rows
  std::int64_t first_ = 0;                                             // step of the panel's first reflection
};

template <class T> void fill_with_nan(const dist::Matrix<T>& a) {
  const MatrixView<T> x = a.local();
  std::fill_n(x.data(), x.rows() * x.columns(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
}

template <class T> DistSpectrum<T> failed(Outcome outcome, const dist::Matrix<T>& a, Vectors vectors, int steps = 0) {
  DistSpectrum<T> result{report_of<T>(outcome, a.rows(), algorithm_of(Executor::host())), {}};
  result.report.iterations = steps;
  result.w.assign(static_cast<std::size_t>(a.rows()), std::numeric_limits<Real<T>>::quiet_NaN());
  if (vectors == Vectors::Yes) fill_with_nan(a);
  return result;
}

// Of operands that were checked, in host memory; `executor` multiplies.
template <class T>
DistSpectrum<T> spectrum(const dist::Matrix<T>& a, Vectors wanted, Uplo uplo, const Executor& executor) {
  const std::int64_t n = a.rows();
  DistSpectrum<T> result{report_of<T>({}, n, algorithm_of(executor)), {}};
  result.report.accuracy.mode = Products<T>(executor, 1).mode();
  result.report.accuracy.bound = static_cast<double>(n) * std::numeric_limits<Real<T>>::epsilon();
  if (n == 0) return result;
  const dist::Matrix<T> columns = mirrored(a, uplo);
  const auto [bad, most] = survey(columns, uplo);
  if (bad < n * n) return failed({Status::NotFinite, bad}, a, wanted);
  // Squares of very large and small numbers leave the range; a power of two takes nothing away.
  constexpr int kFar = std::same_as<Real<T>, float> ? 40 : 300;
  const int exponent = most > 0 && std::abs(std::ilogb(most)) > kFar ? std::ilogb(most) : 0;
  if (exponent != 0) {
    const MatrixView<T> x = columns.local();
    auto* parts = reinterpret_cast<Real<T>*>(x.data());
    const std::int64_t count = x.rows() * x.columns() * (blas::ComplexScalar<T> ? 2 : 1);
    for (std::int64_t i = 0; i < count; ++i) parts[i] = std::ldexp(parts[i], -exponent);
  }
  const int ranks = a.group().size();
  const std::int64_t together = executor.family() == Family::Host ? (n + ranks - 1) / ranks : kRows;
  const dist::BlockCyclic by_rows{n, n, together, n, {ranks, 1}};
  std::optional<dist::Matrix<T>> rows, sorted;
  if (wanted == Vectors::Yes) {
    rows.emplace(a.group(), a.executor(), by_rows);
    sorted.emplace(a.group(), a.executor(), by_rows);
  }
  std::vector<double> d;
  const Outcome outcome = Spectrum<T>(columns, rows ? &*rows : nullptr, executor)(d, result.report.iterations);
  if (!outcome.ok()) return failed(outcome, a, wanted, result.report.iterations);
  std::vector<std::int64_t> order(d.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto value = [&](std::int64_t i) { return d[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) { return value(x) < value(y); });
  for (const std::int64_t i : order) result.w.push_back(static_cast<Real<T>>(std::ldexp(value(i), exponent)));
  if (!rows) return result;
  const MatrixView<T> from = rows->local(), to = sorted->local();
  for (std::int64_t j = 0; j < n; ++j)
    std::copy_n(from.data() + order[static_cast<std::size_t>(j)] * from.column_stride(), from.rows(),
                to.data() + j * to.column_stride());
  const dist::Matrix<T> back = sorted->redistributed(a.distribution());
  const MatrixView<T> target = a.local();
  std::copy_n(back.local().data(), target.rows() * target.columns(), target.data());
  return result;
}

}  // namespace

template <Scalar T> DistSpectrum<T> eigh(const dist::Matrix<T>& a, const DistEighOptions& options) {
  dist_checks::same(kEighName, {static_cast<std::int64_t>(options.vectors), static_cast<std::int64_t>(options.uplo)},
                    a);
  checks::enumerators(kEighName, options.uplo);
  operands::check_enumerator(kEighName, "Vectors", options.vectors, Vectors::No);
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", kEighName, a.rows(), a.columns());
  if (a.executor().family() == Family::Host) return spectrum(a, options.vectors, options.uplo, a.executor());
  const dist::Matrix<T> here = in_memory_of(Executor::host(), a);
  DistSpectrum<T> result = spectrum(here, options.vectors, options.uplo, a.executor());
  if (options.vectors == Vectors::Yes) bring(here, a);
  return result;
}

template <Scalar T>
DistSpectrum<T> eigh_generalized(const dist::Matrix<T>& a, const dist::Matrix<T>& b, const GeneralizedOptions& o) {
  constexpr const char* operation = kGeneralizedName;
  dist_checks::same(
      operation,
      {static_cast<std::int64_t>(o.form), static_cast<std::int64_t>(o.vectors), static_cast<std::int64_t>(o.uplo)}, a,
      b);
  checks::enumerators(operation, o.uplo);
  operands::check_enumerator(operation, "Vectors", o.vectors, Vectors::No);
  operands::check_enumerator(operation, "GeneralizedForm", o.form, GeneralizedForm::BAxIsXLambda);
  const std::int64_t n = a.rows();
  require(a.columns() == n && b.rows() == n && b.columns() == n,
          "{}: A is {} x {} and B is {} x {}; both must be square and of one order", operation, n, a.columns(),
          b.rows(), b.columns());
  dist_checks::apart(operation, "A", a, "B", b);
  const Executor& executor = a.executor();
  const bool on_host = executor.family() == Family::Host;
  if (n == 0) return spectrum(a, o.vectors, o.uplo, executor);
  const bool lower = o.uplo == Uplo::Lower;
  const blas::ProductOptions options{Products<T>(executor, 1).mode()};
  std::optional<dist::Matrix<T>> copied;
  if (!on_host) copied.emplace(in_memory_of(Executor::host(), a));
  const dist::Matrix<T>& here = copied ? *copied : a;
  const auto fail_with = [&](Outcome outcome, int steps) {
    DistSpectrum<T> result = failed(outcome, here, o.vectors, steps);
    if (!on_host && o.vectors == Vectors::Yes) bring(here, a);
    return result;
  };
  const dist::BlockCyclic blocks{n, n, kFactor, kFactor, a.distribution().grid};
  const dist::Matrix<T> whole = mirrored(here, o.uplo), factor = b.redistributed(blocks),
                        c = on_host ? whole.redistributed(blocks) : in_memory_of(executor, whole.redistributed(blocks));
  if (const auto [bad, most] = survey(whole, o.uplo); bad < n * n) return fail_with({Status::NotFinite, bad}, 0);
  if (const Report made = potrf<T>(o.uplo, factor); !made.outcome.ok()) return fail_with(made.outcome, 0);
  const auto solve = [&](Side side, Op op, const dist::Matrix<T>& x) {
    blas::trsm<T>(side, o.uplo, op, Diag::NonUnit, T(1), factor, x, options);
  };
  // The factor with zeros in its other triangle, for products.
  const auto multiply = [&](Side side, Op op, const dist::Matrix<T>& x) {
    std::optional<dist::Matrix<T>> triangle;
    if (!on_host) triangle.emplace(in_memory_of(Executor::host(), factor));
    const MatrixView<T> f = triangle ? triangle->local() : factor.local();
    const dist::BlockCyclic& at = factor.distribution();
    const int rank = a.group().rank();
    for (std::int64_t j = 0; j < f.columns(); ++j) {
      for (std::int64_t i = 0; i < f.rows(); ++i) {
        const std::int64_t row = at.row().to_global(i, at.grid.row_of(rank)),
                           column = at.column().to_global(j, at.grid.column_of(rank));
        if (lower ? row < column : row > column) f.data()[j * f.column_stride() + i] = T(0);
      }
    }
    if (triangle) bring(*triangle, factor);
    const dist::Matrix<T> before = x.redistributed(blocks);
    if (side == Side::Left)
      blas::gemm<T>(op, Op::N, T(1), factor, before, T(0), x, options);
    else
      blas::gemm<T>(Op::N, op, T(1), before, factor, T(0), x, options);
  };
  // B = F F^H with F = L or U^H: F^-1 A F^-H, or F^H A F.
  if (o.form == GeneralizedForm::AxIsBxLambda) {
    solve(Side::Left, lower ? Op::N : Op::C, c);
    solve(Side::Right, lower ? Op::C : Op::N, c);
  } else {
    multiply(Side::Left, lower ? Op::C : Op::N, c);
    multiply(Side::Right, lower ? Op::N : Op::C, c);
  }
  std::optional<dist::Matrix<T>> reduced;
  if (!on_host) reduced.emplace(in_memory_of(Executor::host(), c));
  DistSpectrum<T> result = spectrum(reduced ? *reduced : c, o.vectors, o.uplo, executor);
  if (!result.report.outcome.ok()) return fail_with(result.report.outcome, result.report.iterations);
  if (reduced) bring(*reduced, c);
  result.report.algorithm = on_host ? "cholesky, tridiagonal form, ql"
                                    : "cholesky, tridiagonal form and ql on the hosts, products on devices";
  if (o.vectors != Vectors::Yes) return result;
  if (o.form == GeneralizedForm::BAxIsXLambda)
    multiply(Side::Left, lower ? Op::N : Op::C, c);
  else
    solve(Side::Left, lower ? Op::C : Op::N, c);
  const dist::Matrix<T> back = c.redistributed(a.distribution());
  bring(back, a);
  return result;
}

#define TRN_DIST(T)                                                                            \
  template DistSpectrum<T> eigh<T>(const dist::Matrix<T>&, const DistEighOptions&);            \
  template DistSpectrum<T> eigh_generalized<T>(const dist::Matrix<T>&, const dist::Matrix<T>&, \
                                               const GeneralizedOptions&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::solver
