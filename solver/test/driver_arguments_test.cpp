// What the drivers refuse, workspaces beyond 32 bits among it; and that devices have no kernels.
#include <trn/solver/band.hpp>
#include <trn/solver/certificates.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/svd.hpp>

#include "solver_support.hpp"
#include "support/message_of.hpp"

namespace trn::solver::testing {
namespace {

using testing_support::message_of;
const Executor kHost = Executor::host();
using M = MatrixView<double>;
using V = VectorView<double>;
using Z = std::complex<double>;
template <class F> std::string refused(F call) { return message_of<InvalidArgument>(call); }

TEST(DriverArguments, ShapesAndRanges) {
  double a[16] = {}, b[16] = {}, c[16] = {}, w[4] = {};
  Z z[4];
  const auto m = [](double* data, std::int64_t rows, std::int64_t columns) {
    return M::row_major(kHost, data, rows, columns);
  };
  const VectorView<Z> zw(kHost, z, 4);
  EXPECT_IN("solver.solve: A is 4 x 3; it must be square",
            refused([&] { solve<double>(kHost, m(a, 4, 3), m(b, 4, 1)); }));
  EXPECT_IN("solver.solve: B has 3 rows; it must have 4",
            refused([&] { solve<double>(kHost, m(a, 4, 4), m(b, 3, 1)); }));
  EXPECT_IN("solver.solve: Structure is 5, which is none of its values 0 to 4",
            refused([&] { solve<double>(kHost, m(a, 4, 4), m(b, 4, 1), {.structure = static_cast<Structure>(5)}); }));
  EXPECT_IN("solver.eigh: Range::Kind is 3", refused([&] {
              eigh(kHost, m(a, 4, 4), V(kHost, w, 4), {.range = {.kind = static_cast<Range::Kind>(3)}});
            }));
  EXPECT_IN("solver.lstsq: LeastSquaresMethod is 2", refused([&] {
              lstsq<double>(kHost, m(a, 4, 3), m(b, 4, 1), m(c, 3, 1), {.method = static_cast<LeastSquaresMethod>(2)});
            }));
  EXPECT_IN("Factor::Cholesky needs Structure::Positive",
            refused([&] { solve<double>(kHost, m(a, 4, 4), m(b, 4, 1), {.factor = Factor::Cholesky}); }));
  EXPECT_IN("solver.lstsq: X is 4 x 1; it must be 3 x 1",
            refused([&] { lstsq<double>(kHost, m(a, 4, 3), m(b, 4, 1), m(c, 4, 1)); }));
  EXPECT_IN("the rank tolerance is 2",
            refused([&] { lstsq<double>(kHost, m(a, 4, 3), m(b, 4, 1), m(c, 3, 1), {.rank_tolerance = 2}); }));
  EXPECT_IN("solver.eigh: w has 3 elements; it must have 4", refused([&] { eigh(kHost, m(a, 4, 4), V(kHost, w, 3)); }));
  EXPECT_IN("indices 2 to 5 of 4 eigenvalues",
            refused([&] { eigh(kHost, m(a, 4, 4), V(kHost, w, 4), {.range = Range::indices(2, 5)}); }));
  EXPECT_IN("values in (2, 1]",
            refused([&] { eigh(kHost, m(a, 4, 4), V(kHost, w, 4), {.range = Range::values(2, 1)}); }));
  EXPECT_IN("solver.eigh_generalized: B is 3 x 3; it must be 4 x 4",
            refused([&] { eigh_generalized<double>(kHost, m(a, 4, 4), m(b, 3, 3), V(kHost, w, 4)); }));
  EXPECT_IN("they must be 4 x 3 and 3 x 3 (thin) or 4 x 4 and 3 x 3 (full)",
            refused([&] { svd<double>(kHost, m(a, 4, 3), V(kHost, w, 3), m(b, 4, 2), m(c, 3, 3)); }));
  double all[40] = {};
  EXPECT_IN("solver.eigh: w shares memory with A", refused([&] { eigh(kHost, m(all, 4, 4), V(kHost, all + 5, 4)); }));
  EXPECT_IN("solver.eigh: w shares memory with A",
            refused([&] { eigh(kHost, m(all, 4, 4), V(kHost, all + 15, 4), {.certify = Certify::Rigorous}); }));
  EXPECT_IN("solver.eigh_generalized: A shares memory with B",
            refused([&] { eigh_generalized<double>(kHost, m(all + 15, 4, 4), m(all, 4, 4), V(kHost, w, 4)); }));
  EXPECT_IN("solver.svd: U shares memory with A",
            refused([&] { svd<double>(kHost, m(all, 3, 3), V(kHost, w, 3), m(all + 4, 3, 3), m(c, 3, 3)); }));
  EXPECT_IN("solver.svd: s shares memory with V^H",
            refused([&] { svd<double>(kHost, m(a, 3, 3), V(kHost, all + 8, 3), m(b, 3, 3), m(all, 3, 3)); }));
  EXPECT_IN("solver.svd: s shares memory with A",
            refused([&] { singular_values(kHost, m(all, 3, 3), V(kHost, all + 2, 3)); }));
  EXPECT_IN("solver.svd: V^H shares memory with U",
            refused([&] { svd<double>(kHost, m(a, 3, 3), V(kHost, w, 3), m(b, 3, 3), m(b, 3, 3)); }));
  EXPECT_IN("solver.svd: s has 4 elements; it must have 3",
            refused([&] { singular_values(kHost, m(a, 4, 3), V(kHost, w, 4)); }));
  EXPECT_IN("solver.eig: A is 4 x 3; it must be square", refused([&] { eig(kHost, m(a, 4, 3), zw); }));
  EXPECT_IN("solver.schur: Z is 2 x 4; it must be 4 x 4", refused([&] { schur(kHost, m(a, 4, 4), zw, m(b, 2, 4)); }));
  EXPECT_IN("one of them must be 0",
            refused([&] { pbsv<double>(kHost, blas::BandView<const double>(kHost, a, 4, 4, 1, 1, 3), m(b, 4, 1)); }));
  EXPECT_IN("solver.gtsv: the upper diagonal has 4 elements; it must have 3",
            refused([&] { gtsv<double>(kHost, V(kHost, a, 3), V(kHost, b, 4), V(kHost, c, 4), m(w, 4, 1)); }));
}

// The matrices do not exist: they must be refused before an element is read.
TEST(DriverArguments, WorkspacesBeyond32Bits) {
  // Addresses far from one another, so that nothing overlaps.
  const auto place = [](std::uintptr_t number) { return number << 44U; };
  const auto doubles = [&](std::uintptr_t number) { return reinterpret_cast<double*>(place(number)); };
  const auto floats = [&](std::uintptr_t number) { return reinterpret_cast<float*>(place(number)); };
  const std::int64_t n = 40000;
  const M big(kHost, doubles(1), n, n, 1, n);
  const V values(kHost, doubles(2), n);
  EXPECT_IN("solver.eigh: the workspace has 3200240001 elements; LAPACK counts in 32 bits, up to 2147483647",
            refused([&] { eigh(kHost, big, values); }));
  const MatrixView<Z> big_complex(kHost, reinterpret_cast<Z*>(place(3)), n, n, 1, n);
  EXPECT_IN("the workspace has 3200200001 elements", refused([&] { eigh(kHost, big_complex, values); }));
  EXPECT_IN("LAPACK counts in 32 bits",
            refused([&] { eigh_generalized<double>(kHost, big, M(kHost, doubles(4), n, n, 1, n), values); }));
  const std::int64_t k = 30000;
  const MatrixView<float> medium(kHost, floats(1), k, k, 1, k);
  EXPECT_IN("solver.svd: the workspace has", refused([&] {
              svd<float>(kHost, medium, VectorView<float>(kHost, floats(2), k),
                         MatrixView<float>(kHost, floats(3), k, k, 1, k),
                         MatrixView<float>(kHost, floats(4), k, k, 1, k));
            }));
  const M wide(kHost, doubles(1), 60000, 40000, 1, 60000);
  EXPECT_IN("solver.lstsq: the workspace has", refused([&] {
              lstsq<double>(kHost, wide, M(kHost, doubles(2), 60000, 60000, 1, 60000),
                            M(kHost, doubles(3), 40000, 60000, 1, 40000));
            }));
}

TEST(DriverArguments, WhatDevicesHaveNoKernelsFor) {
  const Executor device = Executor::open("sim:trn2");
  const Matrix<float> a(device, 4, 4), b(device, 4, 4);
  const Array<float> w(device, {4}), v(device, {3});
  const Array<std::complex<float>> z(device, {4});
  const VectorView<float> wv(w.view()), off(v.view());
  const VectorView<std::complex<float>> zv(z.view());
  const auto none = [](auto call) { return message_of<NotImplemented>(call); };
  const Matrix<std::complex<float>> ca(device, 4, 4), cb(device, 4, 4), cc(device, 4, 4);
  EXPECT_IN("no device kernel", none([&] { (void)smallest_eigenvalue_bound(device, Uplo::Lower, a.view()); }));
  EXPECT_IN("no device kernel", none([&] { eigh(device, ca.view(), wv, {.certify = Certify::Rigorous}); }));
  EXPECT_IN("has no singular values of complex matrices; take LeastSquaresMethod::Qr",
            none([&] { lstsq<std::complex<float>>(device, ca.view(), cb.view(), cc.view()); }));
  EXPECT_IN("solver.eigh: no device kernel", none([&] { eigh(device, ca.view(), wv); }));
  EXPECT_IN("solver.eigh_generalized: no device kernel",
            none([&] { eigh_generalized<std::complex<float>>(device, ca.view(), cb.view(), wv); }));
  EXPECT_IN("solver.svd: no device kernel",
            none([&] { svd<std::complex<float>>(device, ca.view(), wv, cb.view(), cc.view()); }));
  EXPECT_IN("solver.eig: no device kernel", none([&] { eig(device, a.view(), zv); }));
  EXPECT_IN("solver.schur: no device kernel", none([&] { schur(device, a.view(), zv); }));
  EXPECT_IN("solver.gtsv: no device kernel", none([&] { gtsv<float>(device, off, wv, off, b.view()); }));
  EXPECT_IN("solver.gbsv: no device kernel",
            none([&] { gbsv<float>(device, blas::BandView<const float>(device, a.data(), 4, 4, 0, 0, 4), b.view()); }));
}

}  // namespace
}  // namespace trn::solver::testing
