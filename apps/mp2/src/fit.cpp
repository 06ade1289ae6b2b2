// The half transforms and the solve.
//
// Fitting shells come in chunks whose size the bases alone decide. On the host one P is one unit of work:
//   X = C_o^T (P|..)   (nocc x n),     (P|ia) = X C_v   (nocc x nvir).
// On a device a chunk is two products, laid out so that nothing is reordered between them:
//   X(i, P m) = C_o^T A^T,  A = (P m, n);      (i P, a) = X(i P, m) C_v.
// The solve L B_i = (P|ia) is one call per orbital on both.
#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <omp.h>

#include <trn/blas/exactness.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>

#include "chunks.hpp"
#include "fit_norms.hpp"
#include "host_fit.hpp"
#include "stages.hpp"

namespace trn::mp2 {

namespace {

std::vector<Chunk> shell_chunks(const FitInput& in) {
  return chunks_of(in.orbital->size(), *in.fitting, std::int64_t{1} << 24);
}

template <class T>
Array<T> upload(const Executor& executor, std::int64_t rows, std::int64_t columns, const double* from) {
  return Array<T>::from_host(executor, {rows, columns}, std::vector<T>(from, from + rows * columns));
}
template <class T> MatrixView<T> as_matrix(const Array<T>& a, std::int64_t rows, std::int64_t columns) {
  return MatrixView<T>::row_major(a.executor(), a.data(), rows, columns);
}

// (i, P, a) of chunk after chunk, and a bound of the error of every row: ||d(P|i.)||, the header's formula without the
// solve.
template <class T> class Transform {
 public:
  Transform(const Executor& executor, const FitInput& in, Mode precision, bool two_words)
      : errors(in.occupied.columns, in.fitting->size()),
        executor_(executor),
        precision_(precision),
        exact_(precision == Mode::Exact),
        two_words_(two_words && exact_),
        n_(in.orbital->size()),
        nocc_(in.occupied.columns),
        nvir_(in.virtuals.columns),
        occupied_(upload<T>(executor, n_, nocc_, in.occupied.data())),
        virtuals_(upload<T>(executor, n_, nvir_, in.virtuals.data())),
        two_(two_norm(in.virtuals)),
        frobenius_(norm_of(in.virtuals.data(), n_ * nvir_)) {
    for (std::int64_t i = 0; i < nocc_; ++i) {
      const Dense column = in.occupied.columns_from(i, 1);
      norms_.push_back(norm_of(column.data(), n_));
      for (std::int64_t m = 0; m < n_; ++m) coefficients_.push_back(std::abs(column.data()[m]));
    }
    for (std::int64_t m = 0; m < n_; ++m) virtual_rows_.push_back(norm_of(in.virtuals.data() + m * nvir_, nvir_));
  }

  Dense errors;  // nocc x naux

  void run(const Chunk& chunk, const std::vector<double>& integrals, std::vector<T>& out) {
    if (executor_.family() == Family::Host)
      on_host(chunk, integrals, out);
    else
      on_device(chunk, integrals, out);
  }

 private:
  using Op = blas::Op;

  void on_host(const Chunk& chunk, const std::vector<double>& integrals, std::vector<T>& out) {
    const auto co = as_matrix(occupied_, n_, nocc_), cv = as_matrix(virtuals_, n_, nvir_);
    for_units(chunk.size, [&](std::int64_t p) {
      const double* block = integrals.data() + p * n_ * n_;
      const std::vector<T> a(block, block + n_ * n_);
      const Array<T> x(executor_, {nocc_, n_});
      std::vector<double> first_errors, second_errors;
      const auto [first, second] =
          half_transforms(co, MatrixView<const T>::row_major(executor_, a.data(), n_, n_), as_matrix(x, nocc_, n_),
                          as_matrix(x, nocc_, n_), cv,
                          MatrixView<T>(executor_, out.data() + p * nvir_, nocc_, nvir_, chunk.size * nvir_, 1),
                          first_errors, second_errors);
      const std::vector<double> norms = row_norms(block);
      for (std::int64_t i = 0; i < nocc_; ++i) {
        errors(i, chunk.first + p) = exact_ ? known(first_errors.data() + i * n_, second_errors.data() + i * nvir_)
                                            : estimate(first, second, i, norms, x.data() + i * n_);
      }
    });
  }

  void on_device(const Chunk& chunk, const std::vector<double>& integrals, std::vector<T>& out) {
    const std::int64_t rows = chunk.size * n_;
    const Array<T> a = upload<T>(executor_, rows, n_, integrals.data());
    const Array<T> x(executor_, {nocc_, rows}), y(executor_, {nocc_ * chunk.size, nvir_});
    std::vector<double> first_errors, second_errors;
    const auto [first, second] =
        half_transforms(as_matrix(occupied_, n_, nocc_), as_matrix(a, rows, n_).transposed(), as_matrix(x, nocc_, rows),
                        as_matrix(x, nocc_ * chunk.size, n_), as_matrix(virtuals_, n_, nvir_),
                        as_matrix(y, nocc_ * chunk.size, nvir_), first_errors, second_errors);
    out = y.to_host();
    const std::vector<T> half = x.to_host();
    for_units(chunk.size, [&](std::int64_t p) {
      const std::vector<double> norms = row_norms(integrals.data() + p * n_ * n_);
      for (std::int64_t i = 0; i < nocc_; ++i) {
        const std::int64_t row = i * chunk.size + p;
        errors(i, chunk.first + p) = exact_ ? known(first_errors.data() + row * n_, second_errors.data() + row * nvir_)
                                            : estimate(first, second, i, norms, half.data() + row * n_);
      }
    });
  }

  // X = C_o^T A, Y = X' C_v with X' the same memory as X. In two words X has no rounding that, carried through C_v and
  // L^-1, would be most of the bound.
  std::pair<Accuracy, Accuracy> half_transforms(const MatrixView<const T>& co, const MatrixView<const T>& a,
                                                const MatrixView<T>& x, const MatrixView<T>& x_rows,
                                                const MatrixView<const T>& cv, const MatrixView<T>& y,
                                                std::vector<double>& first_errors,
                                                std::vector<double>& second_errors) const {
    const Accuracy first =
        blas::gemm(executor_, Op::T, Op::N, T(1), co, a, T(0), x, options(first_errors, x.rows(), x.columns()));
    const Accuracy second =
        blas::gemm(executor_, Op::N, Op::N, T(1), x_rows, cv, T(0), y, options(second_errors, y.rows(), y.columns()));
    if (two_words_) {
      std::vector<double> more;
      const Array<T> rest(executor_, {x.rows(), x.columns()});
      trn::copy(View<T>(x), rest.view());
      blas::gemm(executor_, Op::T, Op::N, T(1), co, a, T(-1), as_matrix(rest, x.rows(), x.columns()),
                 options(first_errors, x.rows(), x.columns()));
      blas::gemm(executor_, Op::N, Op::N, T(1), as_matrix(rest, x_rows.rows(), x_rows.columns()), cv, T(1), y,
                 options(more, y.rows(), y.columns()));
      for (std::size_t k = 0; k < more.size(); ++k) second_errors[k] += more[k];
    }
    return {first, second};
  }

  blas::GemmOptions options(std::vector<double>& bounds, std::int64_t rows, std::int64_t columns) const {
    blas::GemmOptions all{.precision = precision_};
    if (exact_) {
      bounds.resize(static_cast<std::size_t>(rows * columns));
      all.componentwise = MatrixView<double>::row_major(Executor::host(), bounds.data(), rows, columns);
    }
    return all;
  }
  [[nodiscard]] double known(const double* first, const double* second) const {
    return norm_of(first, n_) * two_ + norm_of(second, nvir_);
  }
  // Norms of the rows of a symmetric (P|mn); Exact needs none.
  [[nodiscard]] std::vector<double> row_norms(const double* a) const {
    std::vector<double> norms;
    for (std::int64_t m = 0; m < n_ && !exact_; ++m) norms.push_back(norm_of(a + m * n_, n_));
    return norms;
  }
  // The header's formula, from the rows' norms alone.
  [[nodiscard]] double estimate(const Accuracy& first, const Accuracy& second, std::int64_t i,
                                const std::vector<double>& a, const T* x) const {
    const double u = std::is_same_v<T, float> ? unit_roundoff(DType::Float32) : 0;
    double by_rows = 0, by_columns = 0, half = 0;
    for (std::int64_t m = 0; m < n_; ++m) {
      const auto at = static_cast<std::size_t>(m);
      by_rows += coefficients_[static_cast<std::size_t>(i * n_ + m)] * a[at];
      by_columns += a[at] * virtual_rows_[at];
      half += std::abs(static_cast<double>(x[m])) * virtual_rows_[at];
    }
    return (first.bound + 2 * u) * std::min(by_rows * two_, norms_[static_cast<std::size_t>(i)] * by_columns) +
           (second.bound + u) * std::min(norm_of(x, n_) * frobenius_, half);
  }

  Executor executor_;
  Mode precision_;
  bool exact_, two_words_;
  std::int64_t n_, nocc_, nvir_;
  Array<T> occupied_, virtuals_;
  double two_, frobenius_;
  std::vector<double> norms_, coefficients_;  // of the columns of C_o: ||c_i||, |c_mi|
  std::vector<double> virtual_rows_;          // ||C_v(m, :)||
};

// What a solve leaves behind.
struct Solved {
  double norm = 0;
  std::vector<double> residuals;  // ||(P|i.) - L B_i|| of row P, at most
};
template <class T> Solved solve(const Executor& executor, const MatrixView<const T>& l, const std::vector<double>& rows,
                                std::int64_t nvir, Mode precision, bool certified, PanelStore<T>& store,
                                std::int64_t panel) {
  const std::int64_t naux = l.rows();
  std::vector<T> host(static_cast<std::size_t>(naux * nvir));
  store.read(panel, 1, host.data());
  Solved result;
  result.residuals.resize(static_cast<std::size_t>(naux));
  const auto call = [&](T* data, Mode mode) {
    return blas::trsm<T>(executor, blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, T(1), l,
                         MatrixView<T>::row_major(executor, data, naux, nvir), {.precision = mode})
        .bound;
  };
  const auto from_bound = [&](double bound) {
    const double norm = norm_of(host.data(), naux * nvir);
    for (std::size_t p = 0; p < rows.size(); ++p) result.residuals[p] = bound * rows[p] * norm;
  };
  const bool on_host = executor.family() == Family::Host;
  const Array<T> b = Array<T>::from_host(executor, {naux, nvir}, host);
  if (precision == Mode::Exact && (on_host || certified)) {
    // The residual itself, by an exact product, is far below any bound on it.
    const Array<T> rest = Array<T>::from_host(executor, {naux, nvir}, host);
    std::vector<double> errors(host.size());
    (void)call(b.data(), on_host ? Mode::Native : Mode::Exact);
    blas::gemm(executor, blas::Op::N, blas::Op::N, T(-1), l, as_matrix(b, naux, nvir), T(1),
               as_matrix(rest, naux, nvir),
               {.precision = Mode::Exact,
                .componentwise = MatrixView<double>::row_major(Executor::host(), errors.data(), naux, nvir)});
    host = b.to_host();
    const std::vector<T> left = rest.to_host();
    for (std::int64_t p = 0; p < naux; ++p) {
      result.residuals[static_cast<std::size_t>(p)] =
          norm_of(left.data() + p * nvir, nvir) + norm_of(errors.data() + p * nvir, nvir);
    }
  } else {
    const double bound = call(b.data(), precision);
    host = b.to_host();
    from_bound(bound);
  }
  store.write(panel, 0, naux, host.data());
  result.norm = norm_of(host.data(), naux * nvir);
  return result;
}

// The header's formula.
template <class T> FitResult bound_of(const Dense& l, Dense errors, const std::vector<Solved>& solved) {
  const double u = std::is_same_v<T, float> ? unit_roundoff(DType::Float32) : 0;
  for (std::int64_t p = 0; p < l.rows; ++p) {
    const double row = norm_of(l.data() + p * l.columns, p + 1);
    for (std::int64_t i = 0; i < errors.rows; ++i) {
      const Solved& s = solved[static_cast<std::size_t>(i)];
      errors(i, p) += s.residuals[static_cast<std::size_t>(p)] + u * row * s.norm;
    }
  }
  FitResult result;
  result.errors = carried_through(l, errors);
  for (std::int64_t i = 0; i < errors.rows; ++i) {
    result.norms.push_back(solved[static_cast<std::size_t>(i)].norm);
  }
  return result;
}

}  // namespace

// Exact: what the products take besides their operands is counted too, on the host for every thread.
static std::int64_t exact_fit_bytes(const Executor& executor, const FitInput& in, std::int64_t chunk) {
  const std::int64_t n = in.orbital->size(), naux = in.fitting->size(), nocc = in.occupied.columns,
                     nvir = in.virtuals.columns;
  const bool host = executor.family() == Family::Host;
  const auto product = [](std::int64_t rows, std::int64_t columns, std::int64_t k) {
    return blas::exact_workspace_bytes(DType::Float64, rows, columns, k, true);
  };
  const std::int64_t tasks = host ? omp_get_max_threads() : 1,
                     units = host ? 1 : chunk;  // fitting functions that a task transforms at a time
  // The integrals and their transforms of a chunk; of a task the integrals again, X and Y in two words with the bounds
  // of each, and a product.
  const std::int64_t halves = units * nocc * (n + nvir);
  const std::int64_t transforming = 8 * (chunk * (n * n + nocc * nvir) + nocc * naux) +
                                    tasks * (8 * (units * n * n + 4 * halves) +
                                             std::max(product(nocc, units * n, n), product(units * nocc, nvir, n)));
  // L twice; of a task (P|i.), its solution, the residual and its bounds.
  const std::int64_t solving =
      8 * (2 * naux * naux + nocc * naux) + tasks * (8 * 6 * naux * nvir + product(naux, nvir, naux));
  // Orbitals in their copies and L are there throughout, tables of integrals while they are transformed.
  const std::int64_t always = 8 * (4 * n * n + naux * naux);
  return always +
         std::max(transforming + ThreeCentre::bytes(*in.orbital, *in.fitting, chunk, omp_get_max_threads()), solving);
}

std::int64_t fit_bytes(const Executor& executor, const FitInput& in, Mode precision, std::size_t element,
                       bool in_memory) {
  if (executor.family() == Family::Host && precision == Mode::Native) return host_fit_bytes(in, in_memory);
  const std::int64_t n = in.orbital->size(), naux = in.fitting->size(), chunk = largest_chunk(shell_chunks(in));
  const auto size = static_cast<std::int64_t>(element);
  if (precision == Mode::Exact) return exact_fit_bytes(executor, in, chunk);
  return chunk * n * n * (8 + size) + 2 * chunk * in.occupied.columns * (n + in.virtuals.columns) * size +
         naux * naux * (8 + 8 + size) + naux * in.virtuals.columns * (4 * size + 8);
}

template <class T> FitResult fit(const Executor& executor, const FitInput& in, Mode precision, HalfTransform two_words,
                                 PanelStore<T>& store, std::vector<Stage>& stages) {
  if constexpr (std::is_same_v<T, double>) {
    if (executor.family() == Family::Host && precision == Mode::Native) return host_fit(in, store, stages);
  }
  const std::int64_t n = in.orbital->size(), naux = in.fitting->size(), nocc = in.occupied.columns,
                     nvir = in.virtuals.columns;
  const std::string work = work_name(dtype_of<T>, precision);
  StageClock host(stages, Executor::host()), there(stages, executor);
  Dense l;
  there.run("metric", executor.family() == Family::Host ? "float64" : "float64 exact",
            [&] { l = fitting_factor(*in.fitting, "choose a smaller set", executor); });
  Dense errors;
  {
    std::optional<ThreeCentre> integrals;
    host.run("three_centre", "float64", [&] { integrals.emplace(*in.orbital, *in.fitting); });
    Transform<T> transform(executor, in, precision, two_words == HalfTransform::TwoWords);
    std::vector<double> a;
    std::vector<T> out;
    for (const Chunk& chunk : shell_chunks(in)) {
      host.run("three_centre", "float64", [&] {
        a.resize(static_cast<std::size_t>(chunk.size * n * n));
        integrals->compute(chunk.first_shell, chunk.last_shell, a.data());
      });
      there.run("transform", work, [&] {
        out.resize(static_cast<std::size_t>(nocc * chunk.size * nvir));
        transform.run(chunk, a, out);
        for (std::int64_t i = 0; i < nocc; ++i)
          store.write(i, chunk.first, chunk.size, out.data() + i * chunk.size * nvir);
      });
    }
    errors = std::move(transform.errors);
  }
  std::vector<Solved> solved(static_cast<std::size_t>(nocc));
  there.run("fit", work, [&] {
    const bool certified = two_words == HalfTransform::TwoWords;
    std::vector<double> rows;  // ||l_P||
    for (std::int64_t p = 0; p < naux; ++p) rows.push_back(norm_of(l.data() + p * naux, p + 1));
    const Array<T> factor = upload<T>(executor, naux, naux, l.data());
    const auto view = MatrixView<const T>::row_major(executor, factor.data(), naux, naux);
    const auto one = [&](std::int64_t i) {
      solved[static_cast<std::size_t>(i)] = solve<T>(executor, view, rows, nvir, precision, certified, store, i);
    };
    if (executor.family() == Family::Host)
      for_units(nocc, one);
    else
      for (std::int64_t i = 0; i < nocc; ++i) one(i);
  });
  FitResult result;
  host.run("bound", "float64", [&] { result = bound_of<T>(l, std::move(errors), solved); });
  return result;
}

template FitResult fit<float>(const Executor&, const FitInput&, Mode, HalfTransform, PanelStore<float>&,
                              std::vector<Stage>&);
template FitResult fit<double>(const Executor&, const FitInput&, Mode, HalfTransform, PanelStore<double>&,
                               std::vector<Stage>&);

}  // namespace trn::mp2
