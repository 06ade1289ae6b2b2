// The stationary heat equation on a square by conjugate gradients, with and without preconditioners.
//
//   (4 u_ij - u_(i-1)j - u_(i+1)j - u_i(j-1) - u_i(j+1)) = h^2 f_ij, u = 0 on the border
//
// The right-hand side is made from a known u, smooth with a rough part, so that the error is known. An operator is any
// type with rows, columns, executor and
// apply: here the stencil itself, never a matrix; the dense matrix is made for the preconditioners, which need one.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/trn.hpp>

namespace {

constexpr std::int64_t kSide = 24, kOrder = kSide * kSide;

// Five points of a grid, applied without a matrix. Host.
class Stencil {
 public:
  [[nodiscard]] std::int64_t rows() const { return kOrder; }
  [[nodiscard]] std::int64_t columns() const { return kOrder; }
  [[nodiscard]] const trn::Executor& executor() const { return executor_; }
  void apply(trn::Op, double alpha, const trn::MatrixView<const double>& x, double beta,
             const trn::MatrixView<double>& y) const {  // symmetric: every op is the same
    for (std::int64_t k = 0; k < x.columns(); ++k) {
      const double* from = x.data() + k * x.column_stride();
      double* to = y.data() + k * y.column_stride();
      const auto at = [&](std::int64_t i, std::int64_t j) {
        const bool inside = i >= 0 && j >= 0 && i < kSide && j < kSide;
        return inside ? from[(i * kSide + j) * x.row_stride()] : 0.0;
      };
      for (std::int64_t i = 0; i < kSide; ++i) {
        for (std::int64_t j = 0; j < kSide; ++j) {
          const double value = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
          double& place = to[(i * kSide + j) * y.row_stride()];
          place = beta == 0 ? alpha * value : alpha * value + beta * place;
        }
      }
    }
  }

 private:
  trn::Executor executor_ = trn::Executor::host();
};

}  // namespace

int main() {
  const trn::Executor host = trn::Executor::host();
  const Stencil stencil;
  const double h = 1.0 / static_cast<double>(kSide + 1), pi = std::numbers::pi;
  std::vector<double> b(kOrder), exact(kOrder);
  for (std::int64_t i = 0; i < kSide; ++i) {
    for (std::int64_t j = 0; j < kSide; ++j) {
      const double u = std::sin(pi * static_cast<double>(i + 1) * h) * std::sin(pi * static_cast<double>(j + 1) * h);
      exact[static_cast<std::size_t>(i * kSide + j)] = u + 0.1 * std::cos(static_cast<double>(7 * i * i + 3 * j));
    }
  }
  const trn::MatrixView<double> solution(host, exact.data(), kOrder, 1, 1, kOrder),
      right(host, b.data(), kOrder, 1, 1, kOrder);
  stencil.apply(trn::Op::N, 1, solution, 0, right);

  trn::Matrix<double> unit(host, kOrder, kOrder), dense(host, kOrder, kOrder);
  for (std::int64_t i = 0; i < kOrder * kOrder; ++i) unit.data()[i] = i % (kOrder + 1) == 0 ? 1 : 0;
  stencil.apply(trn::Op::N, 1, unit.view(), 0, dense.view());
  const trn::solver::Jacobi<double> jacobi(dense.view());
  const trn::solver::BlockJacobi<double> blocks(dense.view(), kSide);
  const trn::solver::Ssor<double> ssor(dense.view(), 1.5);

  using Reference = trn::solver::OperatorRef<double>;
  const std::pair<const char*, Reference> preconditioners[] = {
      {"none", {}}, {"jacobi", jacobi}, {"block jacobi, one line of the grid", blocks}, {"ssor 1.5", ssor}};
  bool good = true;
  int plain = 0;
  for (const auto& [name, m] : preconditioners) {
    std::vector<double> u(kOrder);
    const trn::MatrixView<double> x(host, u.data(), kOrder, 1, 1, kOrder);
    const auto report = trn::solver::cg<double>(stencil, right, x, {.tolerance = 1e-10}, m);
    double worst = 0;
    for (std::size_t i = 0; i < u.size(); ++i) worst = std::max(worst, std::abs(u[i] - exact[i]));
    std::printf("%-36s %3d iterations, residual %.1e, error %.1e\n", name, report.iterations, report.residuals[0],
                worst);
    if (!m) plain = report.iterations;
    // The condition is about 4 / (pi h)^2 = 250: the error stays below that times the residual.
    good = good && report.outcome.ok() && worst < 1e-7 && report.iterations <= plain;
  }
  std::printf("%s\n", good ? "right" : "WRONG");
  return good ? 0 : 1;
}
