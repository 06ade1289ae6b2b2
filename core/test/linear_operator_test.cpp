// The concept takes what has the five members and refuses what lacks one.
#include <gtest/gtest.h>

#include <trn/core/array.hpp>
#include <trn/core/linear_operator.hpp>

namespace trn {
namespace {

struct Twice {  // 2 I
  Executor on;
  std::int64_t n;
  [[nodiscard]] std::int64_t rows() const { return n; }
  [[nodiscard]] std::int64_t columns() const { return n; }
  [[nodiscard]] const Executor& executor() const { return on; }
  void apply(Op, float alpha, const MatrixView<const float>& x, float beta, const MatrixView<float>& y) const {
    for (std::int64_t i = 0; i < x.rows(); ++i)
      for (std::int64_t j = 0; j < x.columns(); ++j) {
        float& to = y.data()[i * y.row_stride() + j * y.column_stride()];
        const float product = alpha * 2 * x.data()[i * x.row_stride() + j * x.column_stride()];
        to = beta == 0 ? product : product + beta * to;
      }
  }
};
struct WithoutApply {
  Executor on;
  [[nodiscard]] std::int64_t rows() const { return 1; }
  [[nodiscard]] std::int64_t columns() const { return 1; }
  [[nodiscard]] const Executor& executor() const { return on; }
};

static_assert(LinearOperator<Twice, float>);
static_assert(!LinearOperator<Twice, std::complex<float>>);
static_assert(!LinearOperator<WithoutApply, float>);
static_assert(!LinearOperator<Twice, int>);

template <class A>
requires LinearOperator<A, float>
void apply_to(const A& a, const Matrix<float>& x, Matrix<float>& y) { a.apply(Op::N, 3, x.view(), 0, y.view()); }

TEST(LinearOperator, AppliesToBlocksOfColumns) {
  const auto host = Executor::host();
  const auto x = Matrix<float>::from_host(host, 2, 2, std::vector<float>{1, 2, 3, 4});
  auto y = Matrix<float>::from_host(host, 2, 2, std::vector<float>(4, 9));
  apply_to(Twice{host, 2}, x, y);
  EXPECT_EQ(y.to_host(), (std::vector<float>{6, 12, 18, 24}));
}

}  // namespace
}  // namespace trn
