// The iterative methods on a simulated device: the same loops, with every product and vector operation there.
#include <trn/core/event.hpp>
#include <trn/solver/partial_spectra.hpp>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

// Every blas operation went to a device kernel, and no copy moved as much as the matrix (reductions bring 2560 bytes of
// partial sums).
void expect_on_device(const Recorder& recorder, std::int64_t matrix_bytes) {
  int dispatched = 0;
  for (const Event& event : recorder.events()) {
    if (event.kind == EventKind::Dispatch) {
      ++dispatched;
      EXPECT_EQ(event.family, "device") << event.subject;
    }
    if (event.kind == EventKind::Copy) {
      EXPECT_LT(event.bytes, matrix_bytes) << event.subject;
    }
  }
  EXPECT_GT(dispatched, 0);
  EXPECT_GT(recorder.count(EventKind::Run), 0);
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");
}

template <class T> Matrix<T> moved(const Executor& executor, const Dense<Wide<T>>& a) {
  std::vector<T> values;
  for (const auto& x : a.values) values.push_back(T(x));
  return Matrix<T>::from_host(executor, a.rows, a.columns, values);
}
template <class T> Dense<Wide<T>> fetched(const Matrix<T>& a) {
  const std::vector<T> values = a.to_host();
  Dense<Wide<T>> result(a.rows(), a.columns());
  for (std::size_t i = 0; i < values.size(); ++i) result.values[i] = widened(values[i]);
  return result;
}

template <class T> void krylov_runs(std::int64_t n, const std::vector<std::string>& left_out) {
  const Executor device = Executor::open("sim:trn2");
  Random random(301);
  const auto a = with_spectrum<T>(geometric(n, 8), random);
  const auto b = random_matrix<T>(n, 2, random);
  const Matrix<T> da = moved<T>(device, a), db = moved<T>(device, b), dx(device, n, 2);
  const DenseOperator<T> op(da.view());
  auto methods = positive_methods<T>();
  for (const auto& more : general_methods<T>()) methods.push_back(more);
  methods.push_back({"minres", minres<T>});
  methods.push_back({"lsqr", [](const auto& o, const auto& rhs, const auto& x, const KrylovOptions& options,
                                const auto&) { return IterationReport(lsqr<T>(o, rhs, x, options)); }});
  methods.push_back(
      {"chebyshev", [](const auto& o, const auto& rhs, const auto& x, const KrylovOptions& options, const auto& m) {
         return chebyshev<T>(o, rhs, x, {0.99, 8.1}, options, m);
       }});
  for (const auto& method : methods) {
    if (std::find(left_out.begin(), left_out.end(), method.name) != left_out.end()) continue;
    SCOPED_TRACE(method.name);
    const Recorder recorder(device);
    const auto report = method.run(op, db.view(), dx.view(), {.tolerance = 1e-3}, {});
    EXPECT_TRUE(report.outcome.ok()) << name(report.outcome.status);
    expect_on_device(recorder, n * n * static_cast<std::int64_t>(sizeof(T)));
    const auto residuals = true_residuals(a, b, fetched(dx));
    for (std::size_t j = 0; j < residuals.size(); ++j) {
      EXPECT_NEAR(report.residuals[j], residuals[j], 1e-4);
      EXPECT_LE(residuals[j], 1.1e-3);
    }
  }
}

TEST(IterativeDevice, KrylovInFloat) { krylov_runs<float>(32, {}); }
TEST(IterativeDevice, KrylovInComplexFloat) {
  krylov_runs<std::complex<float>>(24, {"pipelined_cg", "fgmres", "idr", "lsqr", "chebyshev", "block_cg"});
}

TEST(IterativeDevice, Preconditioners) {
  const Executor device = Executor::open("sim:trn2");
  Random random(302);
  const std::int64_t n = 32;
  const auto a = with_spectrum<float>(geometric(n, 8), random);
  const auto b = random_matrix<float>(n, 1, random);
  const Matrix<float> da = moved<float>(device, a), db = moved<float>(device, b), dx(device, n, 1);
  const DenseOperator<float> op(da.view());
  const BlockJacobi<float> blocks(da.view(), 16);
  const Ssor<float> ssor(da.view());
  for (const OperatorRef<float>& m : {OperatorRef<float>(blocks), OperatorRef<float>(ssor)}) {
    const Recorder recorder(device);
    EXPECT_TRUE(cg<float>(op, db.view(), dx.view(), {.tolerance = 1e-3}, m).outcome.ok());
    expect_on_device(recorder, n * n * 4);
    for (const double r : true_residuals(a, b, fetched(dx))) EXPECT_LE(r, 1.1e-3);
  }
  // What has no kernel says so; and an operand elsewhere is refused.
  const Jacobi<float> jacobi(da.view());
  EXPECT_THROW(cg<float>(op, db.view(), dx.view(), {}, jacobi), NotImplemented);
  Held<float> on_host(Layout::RowMajor, b);
  EXPECT_THROW(cg<float>(op, on_host.view(), dx.view()), InvalidArgument);
  const Identity<float> host_identity(Executor::host(), n);
  EXPECT_THROW(cg<float>(op, db.view(), dx.view(), {}, host_identity), InvalidArgument);
  const Matrix<double> wide(device, n, n), wide_b(device, n, 1), wide_x(device, n, 1);
  EXPECT_THROW(cg<double>(DenseOperator<double>(wide.view()), wide_b.view(), wide_x.view()), NotImplemented);
}

TEST(IterativeDevice, PartialSpectra) {
  const Executor device = Executor::open("sim:trn2");
  Random random(303);
  const std::int64_t n = 32;
  std::vector<long double> spectrum{-3, -2};
  for (std::int64_t i = 2; i < n; ++i) spectrum.push_back(static_cast<long double>(i) / 8);
  const auto a = with_spectrum<float>(spectrum, random);
  const Matrix<float> da = moved<float>(device, a), dv(device, n, 2);
  const DenseOperator<float> op(da.view());
  std::vector<float> w(2);
  const VectorView<float> wv(Executor::host(), w.data(), 2);
  const auto expect = [&](const SpectrumReport& report, const Recorder& recorder) {
    EXPECT_TRUE(report.outcome.ok()) << name(report.outcome.status);
    expect_on_device(recorder, n * n * 4);
    EXPECT_NEAR(w[0], -3, 1e-3);
    EXPECT_NEAR(w[1], -2, 1e-3);
    EXPECT_LE(orthogonality(fetched(dv), eps<float>), 10);
  };
  {
    const Recorder recorder(device);
    expect(lanczos<float>(op, wv, dv.view(), {.tolerance = 1e-3, .basis = 12}), recorder);
  }
  {
    const Recorder recorder(device);
    expect(lobpcg<float>(op, wv, dv.view(), {.tolerance = 1e-3}), recorder);
  }
  {
    const Recorder recorder(device);
    expect(filtered_subspace<float>(op, wv, dv.view(), {.tolerance = 1e-3}), recorder);
  }
}

}  // namespace
}  // namespace trn::solver::testing
