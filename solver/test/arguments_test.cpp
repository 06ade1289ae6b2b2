// What the factorisations refuse, with the message, and that nothing is touched then; and that devices have no kernels.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/functions.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/triangular.hpp>

#include "solver_support.hpp"
#include "support/message_of.hpp"

namespace trn::solver::testing {
namespace {

using testing_support::message_of;
const Executor kHost = Executor::host();
using M = MatrixView<double>;
using P = VectorView<std::int64_t>;

M matrix(double* data, std::int64_t m, std::int64_t n) { return M::row_major(kHost, data, m, n); }
template <class F> std::string refused(F call) { return message_of<InvalidArgument>(call); }

TEST(Arguments, ValuesOutsideTheirEnumeration) {
  double a[4] = {1, 0, 0, 1}, b[2] = {3, 4};
  std::int64_t p[2] = {0, 1};
  const auto uplo = static_cast<Uplo>(2);
  const std::string none = ", which is none of its values 0 to 1";
  EXPECT_IN("solver.potrf: Uplo is 2" + none, refused([&] { potrf(kHost, uplo, matrix(a, 2, 2)); }));
  EXPECT_IN("solver.potrs: Uplo is 2" + none,
            refused([&] { potrs<double>(kHost, uplo, matrix(a, 2, 2), matrix(b, 2, 1)); }));
  EXPECT_IN("solver.cholesky: Uplo is 2" + none, refused([&] { Cholesky<double>(kHost, uplo, matrix(a, 2, 2)); }));
  EXPECT_IN("solver.potrf: Mode is 6",
            refused([&] { potrf(kHost, Uplo::Lower, matrix(a, 2, 2), {static_cast<Mode>(6)}); }));
  EXPECT_IN("solver.ldl: Symmetry is 2" + none,
            refused([&] { Ldl<double>(kHost, Uplo::Lower, matrix(a, 2, 2), {static_cast<Symmetry>(2)}); }));
  EXPECT_IN("solver.getrs: Op is 3", refused([&] {
              getrs<double>(kHost, static_cast<Op>(3), matrix(a, 2, 2), P(kHost, p, 2), matrix(b, 2, 1));
            }));
  EXPECT_IN("solver.trtri: Diag is 2" + none,
            refused([&] { trtri(kHost, Uplo::Lower, static_cast<Diag>(2), matrix(a, 2, 2)); }));
  EXPECT_IN("solver.qr: Basis is 2" + none,
            refused([&] { (void)Qr<double>(kHost, matrix(a, 2, 2)).q(static_cast<Basis>(2)); }));
  EXPECT_EQ(b[0], 3);
}

TEST(Arguments, Shapes) {
  double a[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, b[16] = {};
  std::int64_t p[4] = {0, 1, 2, 3};
  EXPECT_IN("solver.potrf: A is 3 x 4; it must be square",
            refused([&] { potrf(kHost, Uplo::Lower, matrix(a, 3, 4)); }));
  EXPECT_IN("solver.cholesky: A is 3 x 4; it must be square",
            refused([&] { Cholesky<double>(kHost, Uplo::Lower, matrix(a, 3, 4)); }));
  EXPECT_IN("solver.lu: A is 4 x 3; it must be square", refused([&] { Lu<double>(kHost, matrix(a, 4, 3)); }));
  EXPECT_IN("solver.ldl: A is 4 x 3; it must be square",
            refused([&] { Ldl<double>(kHost, Uplo::Lower, matrix(a, 4, 3)); }));
  EXPECT_IN("solver.potrs: B has 3 rows; it must have 4",
            refused([&] { potrs<double>(kHost, Uplo::Lower, matrix(a, 4, 4), matrix(b, 3, 2)); }));
  EXPECT_IN("solver.cholesky.solve: B has 3 rows; it must have 4",
            refused([&] { Cholesky<double>(kHost, Uplo::Lower, matrix(a, 4, 4)).solve(matrix(b, 3, 2)); }));
  EXPECT_IN("solver.getrf: the pivot vector has 3 elements; it must have 4",
            refused([&] { getrf(kHost, matrix(a, 4, 4), P(kHost, p, 3)); }));
  EXPECT_IN("solver.lu.solve: B has 2 rows; it must have 4",
            refused([&] { Lu<double>(kHost, matrix(a, 4, 4)).solve(matrix(b, 2, 2)); }));
  EXPECT_IN("solver.geqrf: tau has 2 elements; it must have 3",
            refused([&] { geqrf(kHost, matrix(a, 4, 3), VectorView<double>(kHost, b, 2)); }));
  EXPECT_IN("n <= m and k <= n must hold",
            refused([&] { orgqr<double>(kHost, matrix(a, 3, 4), VectorView<double>(kHost, b, 3)); }));
  EXPECT_IN("A must have as many rows", refused([&] {
              ormqr<double>(kHost, Side::Left, Op::N, matrix(a, 4, 4), VectorView<double>(kHost, b, 3),
                            matrix(b, 3, 2));
            }));
  EXPECT_IN("least squares by QR needs m >= n",
            refused([&] { Qr<double>(kHost, matrix(a, 3, 4)).solve(matrix(b, 3, 1)); }));
  EXPECT_IN("solver.trtri: A is 2 x 3", refused([&] { trtri(kHost, Uplo::Lower, Diag::Unit, matrix(a, 2, 3)); }));
  EXPECT_IN("solver.trtrs: B has 3 rows",
            refused([&] { trtrs<double>(kHost, Uplo::Lower, Op::N, Diag::Unit, matrix(a, 2, 2), matrix(b, 3, 1)); }));
  std::complex<double> z[4] = {}, c[4] = {};
  const auto zm = MatrixView<std::complex<double>>::row_major(kHost, z, 2, 2);
  EXPECT_IN("op is T", refused([&] {
              ormqr<std::complex<double>>(kHost, Side::Left, Op::T, zm, VectorView<std::complex<double>>(kHost, z, 2),
                                          MatrixView<std::complex<double>>::row_major(kHost, c, 2, 2));
            }));
}

TEST(Arguments, PivotsAndMemory) {
  double a[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, b[16] = {5};
  std::int64_t p[4] = {0, 1, 4, 3};
  EXPECT_IN("pivot 2 is 4; getrf's lie between 2 and 3",
            refused([&] { getrs<double>(kHost, Op::N, matrix(a, 4, 4), P(kHost, p, 4), matrix(b, 4, 1)); }));
  p[2] = 1;
  EXPECT_IN("pivot 2 is 1", refused([&] { getri(kHost, matrix(a, 4, 4), P(kHost, p, 4)); }));
  p[2] = -1;
  EXPECT_IN("the first of a 2 x 2 block",
            refused([&] { sytrs<double>(kHost, Uplo::Lower, matrix(a, 4, 4), P(kHost, p, 4), matrix(b, 4, 1)); }));
  p[2] = 9;
  EXPECT_IN("its row must be below 4", refused([&] { sytri(kHost, Uplo::Lower, matrix(a, 4, 4), P(kHost, p, 4)); }));
  EXPECT_EQ(b[0], 5);
  EXPECT_IN("solver.potrf: A is not empty but its pointer is null",
            refused([&] { potrf(kHost, Uplo::Lower, matrix(nullptr, 2, 2)); }));
  EXPECT_IN("so elements share places", refused([&] { potrf(kHost, Uplo::Lower, M(kHost, a, 3, 3, 1, 1)); }));
  EXPECT_IN("B shares memory with the factor",
            refused([&] { potrs<double>(kHost, Uplo::Lower, matrix(a, 4, 4), matrix(a, 4, 1)); }));
  // Also where they begin at different addresses.
  EXPECT_IN("B shares memory with the factor",
            refused([&] { potrs<double>(kHost, Uplo::Lower, matrix(a, 3, 3), matrix(a + 8, 3, 1)); }));
  EXPECT_IN("X shares memory with A", refused([&] { sqrtm<double>(kHost, matrix(a, 3, 3), matrix(a + 2, 3, 3)); }));
  std::complex<double> v[16];
  const auto complex_view = [&](std::complex<double>* at) {
    return MatrixView<std::complex<double>>::column_major(kHost, at, 2, 2, 2);
  };
  const VectorView<std::complex<double>> w(kHost, v + 12, 2);
  EXPECT_IN("the left vectors shares memory with the right vectors", refused([&] {
              (void)eig(kHost, matrix(a, 2, 2), w, {complex_view(v), complex_view(v + 3)});
            }));
  EXPECT_IN("shares memory with w", refused([&] { (void)eig(kHost, matrix(a, 2, 2), w, {complex_view(v + 11), {}}); }));
  EXPECT_IN("leading dimension 3", refused([&] { (void)M::column_major(kHost, a, 4, 4, 3); }));
  const std::int64_t huge = std::int64_t{1} << 31;  // never read: LAPACK could not count it
  EXPECT_IN("LAPACK counts in 32 bits", refused([&] { potrf(kHost, Uplo::Lower, M(kHost, a, huge, huge, 1, huge)); }));
  EXPECT_IN("LAPACK counts in 32 bits", refused([&] { Lu<double>(kHost, M(kHost, a, huge, huge, 1, huge)); }));
  EXPECT_IN("use Precision Native",
            message_of<NotImplemented>([&] { potrf(kHost, Uplo::Lower, matrix(a, 4, 4), {Mode::Exact}); }));
  EXPECT_IN("the norm of A is -1", refused([&] { (void)pocon(kHost, Uplo::Lower, matrix(a, 4, 4), -1.0); }));
}

TEST(Arguments, WhatDevicesHaveNoKernelsFor) {
  const Executor device = Executor::open("sim:trn2");
  const Matrix<float> a(device, 4, 4);
  const Matrix<std::complex<double>> z(device, 4, 4);
  const Array<std::int64_t> p(device, {4});
  const P pivots(p.view());
  const auto none = [](auto call) { return message_of<NotImplemented>(call); };
  EXPECT_IN("solver.sytrf: no device kernel", none([&] { sytrf(device, Uplo::Lower, a.view(), pivots); }));
  EXPECT_IN("solver.sytrf: no device kernel", none([&] { sytrf(device, Uplo::Lower, z.view(), pivots); }));
  double host[4] = {};
  EXPECT_IN("A lives on executor 'host'", refused([&] { potrf(device, Uplo::Lower, matrix(host, 2, 2)); }));
}

TEST(Arguments, NamesOfOutcomes) {
  EXPECT_EQ(name(Status::Ok), "ok");
  EXPECT_EQ(name(Status::NotPositiveDefinite), "not positive definite");
  EXPECT_EQ(name(Status::TargetMissed), "target missed");
  EXPECT_EQ(Outcome{}.lapack_info(), 0);
}

}  // namespace
}  // namespace trn::solver::testing
