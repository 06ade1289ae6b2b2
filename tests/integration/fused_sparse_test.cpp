// Fused Krylov steps with a sparse matrix: trnsolver keeps in SBUF the tiles that trnsparse's operator hands out.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <trn/core/event.hpp>
#include <trn/solver/fused_krylov.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spmm.hpp>

namespace trn {
namespace {

TEST(FusedSparse, AGridIsSolvedInSbuf) {
  const Executor e = Executor::open("sim:trn2");
  const sparse::Csr<float> a = sparse::poisson<float>(18, 17);
  const std::int64_t n = a.rows();
  for (const sparse::Kernel kernel : {sparse::Kernel::Pinned, sparse::Kernel::Resident}) {
    const sparse::SparseOperator<float> op(e, a.to(e), {.kernel = kernel});
    std::vector<float> b(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<float>(i) + 1);
    const auto db = Matrix<float>::from_host(e, n, 1, b);
    const Matrix<float> dx(e, n, 1);
    const Recorder recorder(e);
    const auto report = solver::fused_cg(op, db.view(), dx.view(), {.tolerance = 1e-5});
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_EQ(recorder.family_of("solver.fused_cg"), "device");
    const std::vector<float> x = dx.to_host();
    double residual = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double r = b[static_cast<std::size_t>(i)];
      for (std::int64_t k = a.pattern().offsets().data()[i]; k < a.pattern().offsets().data()[i + 1]; ++k)
        r -= static_cast<double>(a.values().data()[k]) * x[static_cast<std::size_t>(a.pattern().indices().data()[k])];
      residual += r * r, size += static_cast<double>(b[static_cast<std::size_t>(i)]) * b[static_cast<std::size_t>(i)];
    }
    EXPECT_LE(std::sqrt(residual / size), 1.01e-5) << sparse::name(kernel);
  }
}

}  // namespace
}  // namespace trn
