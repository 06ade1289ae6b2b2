// Generalised eigenproblems and condition estimates on simulated devices.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/triangular.hpp>

#include "device_support.hpp"

namespace trn::solver::testing::generalized_device {
namespace {

using Wd = Dense<long double>;
constexpr GeneralizedForm kForms[] = {GeneralizedForm::AxIsBxLambda, GeneralizedForm::ABxIsXLambda,
                                      GeneralizedForm::BAxIsXLambda};

// Diagonally dominant: its condition is about 3.
template <class T> Wd positive(std::int64_t n, Random& random) {
  Wd b = random_hermitian<T>(n, random);
  for (auto& x : b.values) x /= 2 * n;
  for (std::int64_t i = 0; i < n; ++i) b(i, i) = 1 + static_cast<long double>(i % 3) / 2;
  return rounded<T>(b);
}

template <class T>
void check(const Executor& executor, std::int64_t n, GeneralizedForm form, Uplo uplo, Random& random) {
  SCOPED_TRACE(::testing::Message() << executor.name() << " n = " << n << " form " << static_cast<int>(form));
  const Wd a = random_hermitian<T>(n, random), b = positive<T>(n, random);
  Held<T> ha(Layout::PaddedRows, a), hb(Layout::ColumnMajor, b);
  for (std::int64_t i = 0; i < n; ++i) {  // never read
    for (std::int64_t j = 0; j < i; ++j) {
      (uplo == Uplo::Lower ? ha.at(j, i) : ha.at(i, j)) = std::numeric_limits<T>::quiet_NaN();
      (uplo == Uplo::Lower ? hb.at(j, i) : hb.at(i, j)) = std::numeric_limits<T>::quiet_NaN();
    }
  }
  OnDevice<T> da(executor, ha), db(executor, hb);
  const Array<T> w(executor, {n});
  Recorder recorder(executor);
  const EighReport report =
      eigh_generalized<T>(executor, da.view(), db.view(), VectorView<T>(w.view()), {.form = form, .uplo = uplo});
  ASSERT_TRUE(report.outcome.ok());
  EXPECT_EQ(report.found, n);
  EXPECT_EQ(report.algorithm, "cholesky, spectral divide and conquer");
  EXPECT_EQ(recorder.family_of("solver.eigh_generalized"), "device");
  EXPECT_NE(recorder.family_of("blas.trsm"), "host");
  EXPECT_NE(recorder.family_of("blas.gemm"), "host");
  EXPECT_EQ(n > 16 ? recorder.count(EventKind::Run, "solver_split") > 0 : true, true);
  da.fetch();
  EXPECT_TRUE(ha.surroundings_untouched());
  const Wd v = ha.values();
  const std::vector<T> values = w.to_host();
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  Wd scaled = v;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled(i, j) *= values[static_cast<std::size_t>(j)];
  }
  const Wd left = form == GeneralizedForm::AxIsBxLambda   ? times(a, v)
                  : form == GeneralizedForm::ABxIsXLambda ? times(a, times(b, v))
                                                          : times(b, times(a, v));
  const Wd right = form == GeneralizedForm::AxIsBxLambda ? times(b, scaled) : scaled;
  EXPECT_LT(ratio(minus(left, right), norm1(a) * norm1(b) * norm1(v), n, eps<T>), 1);
  // V^T B V = I, or V^T B^-1 V = I, which is V V^T = B.
  const Wd gram = form == GeneralizedForm::BAxIsXLambda
                      ? minus(times(v, transposed(v)), b)
                      : minus(times(transposed(v), times(b, v)), identity<long double>(n));
  EXPECT_LT(ratio(gram, norm1(b), n, eps<T>), 4);
}

TEST(GeneralizedDevice, FormsTypesAndTriangles) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const GeneralizedForm form : kForms) {
    check<float>(trn2, 40, form, Uplo::Lower, random);
    check<float>(trn2, 9, form, Uplo::Upper, random);
    check<double>(trn2, 20, form, Uplo::Upper, random);
  }
  check<float>(trn2, 130, GeneralizedForm::AxIsBxLambda, Uplo::Upper, random);
  check<double>(trn2, 1, GeneralizedForm::BAxIsXLambda, Uplo::Lower, random);
  for (const char* machine : {"trn1", "trn3"}) {
    check<float>(neuron::open_simulator(machine), 17, GeneralizedForm::AxIsBxLambda, Uplo::Lower, random);
  }
}

TEST(GeneralizedDevice, Outcomes) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(2);
  const std::int64_t n = 20;
  const Wd a = random_hermitian<float>(n, random), good = positive<float>(n, random);
  const auto run = [&](const Wd& x, const Wd& y) {
    const auto to = [&](const Wd& m) {
      return Matrix<float>::from_host(trn2, n, n, std::vector<float>(m.values.begin(), m.values.end()));
    };
    const Matrix<float> da = to(x), db = to(y);
    const Array<float> w(trn2, {n});
    const EighReport report = eigh_generalized<float>(trn2, da.view(), db.view(), VectorView<float>(w.view()));
    EXPECT_EQ(report.found, 0);
    EXPECT_TRUE(std::isnan(w.to_host()[0]) && std::isnan(da.to_host()[0]));
    return report.outcome;
  };
  Wd indefinite = good, infinite = good, not_a_number = a;
  indefinite(7, 7) = -1;
  infinite(5, 2) = std::numeric_limits<float>::infinity();
  not_a_number(3, 1) = NAN;
  EXPECT_EQ(run(a, indefinite), (Outcome{Status::NotPositiveDefinite, 7}));
  EXPECT_EQ(run(a, infinite), (Outcome{Status::NotFinite, 5 * n + 2}));
  EXPECT_EQ(run(not_a_number, good), (Outcome{Status::NotFinite, 3 * n + 1}));
  const Matrix<float> none(trn2, 0, 0), none_b(trn2, 0, 0);
  const Array<float> w(trn2, {0});
  EXPECT_TRUE(eigh_generalized<float>(trn2, none.view(), none_b.view(), VectorView<float>(w.view())).outcome.ok());
}

// The estimators' numbers are those of the host's, which are LAPACK's: the same algorithm.
template <class T> void conditions(const Executor& executor) {
  Random random(3);
  const std::int64_t n = 24;
  Wd a = positive<T>(n, random);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) *= std::pow(10.0L, static_cast<long double>(i % 4));
  a = rounded<T>(a);
  const Executor host = Executor::host();
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    Held<T> held(Layout::RowMajor, a);
    ASSERT_TRUE(potrf(host, uplo, held.view()).outcome.ok());
    OnDevice<T> there(executor, held);
    const auto norm = static_cast<T>(norm1(a));
    Recorder recorder(executor);
    const T expected = pocon<T>(host, uplo, held.view(), norm);
    EXPECT_NEAR(pocon<T>(executor, uplo, there.view(), norm), expected, 1e-4 * expected);
    EXPECT_EQ(recorder.family_of("solver.pocon"), "device");
    for (const Norm which : {Norm::One, Norm::Infinity}) {
      for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
        const T triangle = trcon<T>(host, which, uplo, diag, held.view());
        EXPECT_NEAR(trcon<T>(executor, which, uplo, diag, there.view()), triangle, 1e-4 * triangle);
      }
    }
    EXPECT_EQ(recorder.family_of("solver.trcon"), "device");
    const double all = Cholesky<T>(executor, uplo, OnDevice<T>(executor, held).view()).condition();
    EXPECT_TRUE(all > 0);
  }
  Held<T> singular(Layout::RowMajor, Wd(3, 3));
  OnDevice<T> there(executor, singular);
  EXPECT_EQ(trcon<T>(executor, Norm::One, Uplo::Lower, Diag::NonUnit, there.view()), 0);
  // NaN and infinity give NaN, on the diagonal and off it, where they are read.
  for (const T value : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const std::int64_t row : {1, 2}) {
      Held<T> held(Layout::RowMajor, identity<long double>(3));
      held.at(row, 1) = value;
      OnDevice<T> bad(executor, held);
      for (const Executor& where : {executor, host}) {
        const MatrixView<T> view = where == host ? held.view() : bad.view();
        EXPECT_TRUE(std::isnan(trcon<T>(where, Norm::One, Uplo::Lower, Diag::NonUnit, view)));
        EXPECT_TRUE(std::isnan(trcon<T>(where, Norm::Infinity, Uplo::Lower, Diag::NonUnit, view)));
        EXPECT_TRUE(std::isnan(pocon<T>(where, Uplo::Lower, view, T(1))));
        EXPECT_EQ(trcon<T>(where, Norm::One, Uplo::Upper, Diag::Unit, view), 1);
      }
    }
  }
}
TEST(ConditionDevice, IsTheHosts) {
  const Executor trn2 = neuron::open_simulator("trn2");
  conditions<float>(trn2);
  conditions<double>(trn2);
}

}  // namespace
}  // namespace trn::solver::testing::generalized_device
