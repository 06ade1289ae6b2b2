// Values that are none of an enumeration's enumerators are refused by every entry point, before anything is read.
#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/gemm_epilogue.hpp>
#include <trn/blas/gemm_ex.hpp>
#include <trn/blas/gemv.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/packed.hpp>
#include <trn/blas/pair_energy.hpp>
#include <trn/blas/symm.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trmm.hpp>
#include <trn/blas/trmv.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/blas/trsm_batched.hpp>
#include <trn/core/array.hpp>

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace trn::blas::test {
namespace {

using testing_support::message_of;

constexpr auto kOp = static_cast<Op>(7);
constexpr auto kUplo = static_cast<Uplo>(2);
constexpr auto kDiag = static_cast<Diag>(255);
constexpr auto kSide = static_cast<Side>(3);
constexpr auto kLayout = static_cast<Layout>(2);
constexpr auto kMode = static_cast<Mode>(6);

class Enumerators : public ::testing::TestWithParam<const char*> {
 protected:
  // The call is refused with a message that begins with `begin` and has ` is N, which is none of its values`.
  template <class F> static void refused(const std::string& begin, F call) {
    const std::string text = message_of<InvalidArgument>(call);
    EXPECT_TRUE(text.starts_with(begin)) << begin << " against: " << text;
    EXPECT_NE(text.find("which is none of its values 0 to "), std::string::npos) << text;
  }
  Executor e = Executor::open(GetParam());
  Matrix<float> a{e, 2, 2}, b{e, 2, 2}, c{e, 2, 2};
  Array<float> first{e, {2}}, second{e, {2}};
  VectorView<float> x{first.view()}, y{second.view()};
};

TEST_P(Enumerators, MatrixProducts) {
  refused("blas.gemm: Op is 7", [&] { gemm(e, kOp, Op::N, 1, a.view(), b.view(), 0, c.view()); });
  refused("blas.gemm: Op is 7", [&] { gemm(e, Op::N, kOp, 1, a.view(), b.view(), 0, c.view()); });
  refused("blas.gemm: Mode is 6", [&] { gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view(), {kMode, {}}); });
  refused("blas.gemm: Op is 7", [&] {
    gemm_ex(e, kOp, Op::N, 1, TypedMatrix(MatrixView<float>(a.view())), TypedMatrix(MatrixView<float>(b.view())), 0,
            TypedMatrix(MatrixView<float>(c.view())));
  });
  refused("blas.geam: Op is 7", [&] { geam<float>(e, Op::N, kOp, 1, a.view(), 1, b.view(), c.view()); });
  refused("blas.dgmm: Side is 3", [&] { dgmm<float>(e, kSide, a.view(), x, c.view()); });
  refused("blas.symm: Side is 3",
          [&] { symm<float>(e, kSide, Uplo::Lower, 1, a.view(), b.view(), 0, c.view(), GemmOptions{}); });
  refused("blas.symm: Uplo is 2",
          [&] { symm<float>(e, Side::Left, kUplo, 1, a.view(), b.view(), 0, c.view(), GemmOptions{}); });
  refused("blas.syrk: Uplo is 2", [&] { syrk<float>(e, kUplo, Op::N, 1, a.view(), 0, c.view(), GemmOptions{}); });
  refused("blas.syrk: Op is 7", [&] { syrk<float>(e, Uplo::Lower, kOp, 1, a.view(), 0, c.view(), GemmOptions{}); });
  refused("blas.trmm: Diag is 255", [&] {
    trmm<float>(e, Side::Left, Uplo::Lower, Op::N, kDiag, 1, a.view(), b.view(), c.view(), GemmOptions{});
  });
  refused("blas.trsm: Uplo is 2",
          [&] { trsm<float>(e, Side::Left, kUplo, Op::N, Diag::NonUnit, 1, a.view(), b.view(), ProductOptions{}); });
  refused("blas.trsm: Mode is 6", [&] {
    trsm<float>(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1, a.view(), b.view(), ProductOptions{kMode});
  });
  refused("blas.gemm_epilogue: Activation is 4", [&] {
    gemm_epilogue(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view(),
                  Epilogue<float>{.activation = static_cast<Activation>(4)});
  });
}

TEST_P(Enumerators, VectorsAndStorage) {
  refused("blas.gemv: Op is 7", [&] { gemv<float>(e, kOp, 1, a.view(), x, 0, y, ProductOptions{}); });
  refused("blas.symv: Uplo is 2", [&] { symv<float>(e, kUplo, 1, a.view(), x, 0, y); });
  refused("blas.syr: Uplo is 2", [&] { syr<float>(e, kUplo, 1, x, a.view()); });
  refused("blas.trmv: Op is 7", [&] { trmv<float>(e, Uplo::Lower, kOp, Diag::Unit, a.view(), x); });
  refused("blas.trsv: Diag is 255", [&] { trsv<float>(e, Uplo::Lower, Op::N, kDiag, a.view(), x); });
  refused("blas.spmv: Uplo is 2", [&] { spmv<float>(e, 1, PackedView<const float>(e, a.data(), 2, kUplo), x, 0, y); });
  refused("blas.tpmv: Layout is 2",
          [&] { tpmv<float>(e, Op::N, Diag::Unit, PackedView<const float>(e, a.data(), 2, Uplo::Lower, kLayout), x); });
  refused("blas.gbmv: Layout is 2",
          [&] { gbmv<float>(e, Op::N, 1, BandView<const float>(e, a.data(), 2, 2, 0, 0, 1, kLayout), x, 0, y); });
}

TEST_P(Enumerators, Batches) {
  const float *as[] = {a.data()}, *bs[] = {b.data()};
  float* cs[] = {c.data()};
  refused("blas.gemm_batched: Layout is 2", [&] {
    gemm_batched<float>(e, {.m = 2, .n = 2, .k = 2, .layout = kLayout}, 1, as, bs, 0, std::span<float* const>(cs));
  });
  refused("blas.gemm_batched: Mode is 6", [&] {
    gemm_batched<float>(e, {.m = 2, .n = 2, .k = 2}, 1, as, bs, 0, std::span<float* const>(cs), {kMode});
  });
  refused("blas.trsm_batched: Side is 3",
          [&] { trsm_batched<float>(e, {.side = kSide, .m = 2, .n = 2}, 1, as, std::span<float* const>(cs)); });
}

INSTANTIATE_TEST_SUITE_P(Executors, Enumerators, ::testing::Values("host", "sim:trn2"),
                         [](const auto& chosen) { return std::string(chosen.param) == "host" ? "host" : "trn2"; });

// A mode that does not exist, where only two are offered.
TEST(EnumeratorsOfSums, Modes) {
  const float x[2] = {1, 2};
  const VectorView<const float> v(Executor::host(), x, 2, 1);
  EXPECT_IN("precision: 6 is not one of the 6 modes",
            message_of<InvalidArgument>([&] { (void)asum(Executor::host(), v, kMode); }));
}

}  // namespace
}  // namespace trn::blas::test
