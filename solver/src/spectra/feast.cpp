// FEAST: subspace iteration with the spectral projector of an interval, as a sum over eight points of a half circle.
//
//   P Y ~ sum of w_e r / 4 (e^(i t) (z I - A)^-1 Y + its adjoint's), z = c + r e^(i t), t = pi/2 (1 + x_e)
//
// with Gauss-Legendre's x_e and w_e on [-1, 1]. A Hermitian: (conj(z) I - A)^-1 is the conjugate transpose of
// (z I - A)^-1, so that one factorisation serves both halves of the circle.
#include <numbers>

#include <trn/solver/lu.hpp>

#include "checks.hpp"
#include "scalars.hpp"
#include "spectra/support.hpp"

namespace trn::solver {

namespace spectra {

constexpr double kNodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
constexpr double kWeights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

template <class C> struct Resolvent {
  Lu<C> lu;
  C factor;  // w r e^(i t) / 4
};

template <class T> std::vector<Resolvent<std::complex<Real<T>>>> contour(const Small<T>& a, double lo, double hi) {
  using C = std::complex<Real<T>>;
  const double centre = lo + (hi - lo) / 2, radius = (hi - lo) / 2;
  std::vector<Resolvent<C>> points;
  for (int e = 0; e < 8; ++e) {
    const double x = e < 4 ? kNodes[e] : -kNodes[e - 4], weight = kWeights[e % 4];
    const std::complex<double> turn = std::polar(1.0, std::numbers::pi / 2 * (1 + x));
    Small<C> shifted(a.rows(), a.rows());
    for (std::int64_t j = 0; j < a.rows(); ++j) {
      for (std::int64_t i = 0; i < a.rows(); ++i) shifted(i, j) = -C(a(i, j));
      shifted(j, j) += C(centre + radius * turn);
    }
    points.push_back({Lu<C>(Executor::host(), shifted.view()), C(weight * radius / 4 * turn)});
  }
  return points;
}

// P y.
template <class T, class C> Small<T> projected(const std::vector<Resolvent<C>>& points, const Small<T>& y) {
  Small<C> sum(y.rows(), y.columns());
  for (const auto& point : points) {
    for (const Op op : {Op::N, Op::C}) {
      Small<C> solved(y.view());
      (void)point.lu.solve(solved.view(), op);
      const C factor = op == Op::N ? point.factor : std::conj(point.factor);
      for (std::int64_t j = 0; j < y.columns(); ++j) {
        for (std::int64_t i = 0; i < y.rows(); ++i) sum(i, j) += factor * solved(i, j);
      }
    }
  }
  Small<T> result(y.rows(), y.columns());
  for (std::int64_t j = 0; j < y.columns(); ++j) {
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      if constexpr (ComplexScalar<T>) {
        result(i, j) = sum(i, j);
      } else {
        result(i, j) = sum(i, j).real();
      }
    }
  }
  return result;
}

}  // namespace spectra

template <Scalar T> SpectrumReport feast(const Executor& executor, const ConstMatrix<T>& a, double lo, double hi,
                                         const VectorView<std::type_identity_t<Real<T>>>& w, const MatrixView<T>& v,
                                         const SpectrumOptions& options) {
  using namespace spectra;
  constexpr const char* operation = "solver.feast";
  checks::input(operation, "A", executor, a);
  const DenseOperator<T> op(a);
  Search<T> search = checked<T>(operation, op, w, v, options);
  require(executor.family() == Family::Host, "{}: runs on the host; executor '{}' is a device", operation,
          executor.name());
  require(lo < hi && std::isfinite(lo) && std::isfinite(hi), "{}: the interval is [{}, {}]; lo < hi must hold",
          operation, lo, hi);
  search.sign = T(1);
  SpectrumReport report;
  report.algorithm = "feast";
  const std::int64_t n = a.rows(), room = search.k;
  const auto write_nan = [&](std::int64_t from) {
    for (std::int64_t j = from; j < room; ++j) {
      w.data()[j * w.stride()] = host::not_a_number<Real<T>>();
      host::fill(v.block(0, j, n, 1), host::not_a_number<T>());
    }
  };
  report.outcome = host::finite(a);
  if (!report.outcome.ok() || n == 0 || room == 0) {
    write_nan(0);
    return report;
  }
  const Small<T> matrix(a);
  const auto points = contour(matrix, lo, hi);
  for (const auto& point : points) {
    if (!point.lu.report().outcome.ok()) {
      report.outcome = point.lu.report().outcome;
      write_nan(0);
      return report;
    }
  }
  Block<T> x = orthonormal<T>(search.random_block(room));
  std::vector<Real<T>> values;
  std::vector<std::int64_t> inside;
  Norms rho;
  const std::int64_t most = options.max_iterations > 0 ? options.max_iterations : 40;
  bool done = false;
  std::int64_t count_before = -1;
  while (!done && report.iterations < most) {
    ++report.iterations;
    const Small<T> y = projected(points, iterative::on_host<T>(x.view()));
    x = orthonormal<T>(y.view());
    const Block<T> ax = search.block(x.columns()), r = search.block(x.columns());
    search.product(x, ax);
    Small<T> s(0, 0);
    if (!search.ritz(x, ax, values, s)) break;
    const Block<T> turned = search.block(x.columns());
    add_product<T>(T(1), x, s, T(0), turned.view());
    x = orthonormal<T>(turned);  // the same columns but for rounding
    search.product(x, r);
    iterative::Scalars<T> theta = iterative::dots<T>(x, r);
    iterative::add<T>(theta, x, r.view(), T(-1));
    rho = norms<T>(r);
    inside.clear();
    done = true;
    for (std::int64_t j = 0; j < x.columns(); ++j) {
      values[at(j)] = std::real(theta[at(j)]);
      const bool good = rho[at(j)] <= search.tolerance * search.norm;
      const auto value = static_cast<double>(values[at(j)]);
      if (value < lo || value > hi) continue;
      inside.push_back(j);
      done = done && good;
    }
    // Two rounds must agree on the number: spurious Ritz values wander in and out.
    done = done && count_before == static_cast<std::int64_t>(inside.size());
    count_before = static_cast<std::int64_t>(inside.size());
  }
  // Spurious ones that stayed without converging are told from eigenvalues by their residuals.
  std::sort(inside.begin(), inside.end(),
            [&](std::int64_t i, std::int64_t j) { return values[at(i)] < values[at(j)]; });
  for (const std::int64_t j : inside) {
    const std::int64_t to = report.found++;
    w.data()[to * w.stride()] = values[at(j)];
    assign<T>(x.columns(j, 1), v.block(0, to, n, 1));
    report.residuals.push_back(rho[at(j)]);
    report.accuracy.bound = std::max(report.accuracy.bound, rho[at(j)] / (search.norm > 0 ? search.norm : 1));
  }
  write_nan(report.found);
  report.products = search.products;
  if (!done) report.outcome = {Status::NotConverged, 0};
  if (report.found == room && room < n) report.outcome = {Status::NotConverged, room};
  return report;
}

#define TRN_FEAST(T)                                                                                    \
  template SpectrumReport feast(const Executor&, const ConstMatrix<T>&, double, double,                 \
                                const VectorView<std::type_identity_t<Real<T>>>&, const MatrixView<T>&, \
                                const SpectrumOptions&);
TRN_SOLVER_SCALARS(TRN_FEAST)
#undef TRN_FEAST

}  // namespace trn::solver
