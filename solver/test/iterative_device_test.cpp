// The iterative methods on a simulated device: the same loops, with every product and vector operation there.
#include <trn/core/event.hpp>
#include <trn/solver/partial_spectra.hpp>
#include <trn/solver/stored_vectors.hpp>

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

// Vectors in bfloat16: the loops' every operation on the device, the stored numbers bfloat16, and a guess rounded to
// the host's bits, with columns that are contiguous and columns that are not.
template <class T> void stored_runs(std::int64_t n, const Rounding& rounding) {
  const Executor device = Executor::open("sim:trn2"), host = Executor::host();
  Random random(307);
  const auto a = with_spectrum<T>(geometric(n, 4), random);
  const auto b = random_matrix<T>(n, 2, random);
  const Matrix<T> da = moved<T>(device, a), db = moved<T>(device, b), dx(device, n, 2), across(device, 2, n);
  const DenseOperator<T> op(da.view());
  StoredOptions options;
  options.rounding = rounding;
  options.tolerance = 4 * 0x1p-7, options.max_iterations = 200;
  const auto stored = [](const std::vector<T>& x) {
    for (const T& v : x) {
      EXPECT_EQ(static_cast<float>(bfloat16(std::real(v))), std::real(v));
      EXPECT_EQ(static_cast<float>(bfloat16(std::imag(v))), std::imag(v));
    }
  };
  for (const bool gradients : {true, false}) {
    for (const MatrixView<T>& x : {dx.view(), across.view().transposed()}) {
      const Recorder recorder(device);
      const auto report =
          gradients ? cg_stored<T>(op, db.view(), x, options) : richardson_stored<T>(op, db.view(), x, 0.4, options);
      EXPECT_TRUE(report.outcome.ok()) << name(report.outcome.status) << " " << report.residuals[0];
      expect_on_device(recorder, n * n * static_cast<std::int64_t>(sizeof(T)));
      EXPECT_EQ(recorder.family_of("blas.round"), "device");
    }
    stored(dx.to_host()), stored(across.to_host());
    for (const double r : true_residuals(a, b, fetched(dx))) EXPECT_LE(r, 1.1 * options.tolerance);
  }
  // A tolerance that every guess meets: x is the guess as it was stored.
  const Matrix<T> ha = moved<T>(host, a), hb = moved<T>(host, b), hx = moved<T>(host, b);
  options.tolerance = 0.9999, options.guess = Guess::InX, options.max_iterations = 1;
  std::vector<T> small = hx.to_host();
  for (T& v : small) v *= Real<T>(1e-3);
  const Matrix<T> hs = Matrix<T>::from_host(host, n, 2, small), ds = Matrix<T>::from_host(device, n, 2, small);
  (void)richardson_stored<T>(DenseOperator<T>(ha.view()), hb.view(), hs.view(), 1e-30, options);
  (void)richardson_stored<T>(op, db.view(), ds.view(), 1e-30, options);
  EXPECT_EQ(hs.to_host(), ds.to_host());
  EXPECT_NE(hs.to_host(), small);
}
TEST(IterativeDevice, VectorsStoredInBfloat16) {
  stored_runs<float>(32, Rounding());
  stored_runs<float>(130, Rounding::Stochastic{11});
  stored_runs<std::complex<float>>(24, Rounding::Stochastic{12});
}
TEST(IterativeDevice, DoubleIsNotStoredOnDevices) {
  const Executor device = Executor::open("sim:trn2");
  const Matrix<double> a = Matrix<double>::from_host(device, 2, 2, std::vector<double>{2, 0, 0, 2}), b(device, 2, 1),
                       x(device, 2, 1);
  EXPECT_THROW(cg_stored<double>(DenseOperator<double>(a.view()), b.view(), x.view()), NotImplemented);
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
