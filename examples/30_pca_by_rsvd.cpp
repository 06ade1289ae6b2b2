// Principal components of a cloud of points by a randomised singular value decomposition.
//
// 400 points in 60 dimensions lie near a plane: two directions of standard deviation 10 and 5, noise of 0.1 in all. The
// centred matrix is X = U S V^H; its first two right singular vectors are the principal directions, s^2 / (n - 1) their
// variances. rsvd finds them from a sketch of a few columns, and proves how much of X the rank-2 model misses.
// The products run on the executor (`--exec host`, `--exec sim:trn2`; default both).
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <trn/trn.hpp>

namespace {

constexpr std::int64_t kPoints = 400, kDimensions = 60;

// Row i: 10 a_i e_0 + 5 b_i (e_1 + e_2) / sqrt(2) + noise, less the mean of all rows.
std::vector<float> cloud() {
  std::vector<float> z(kPoints * (kDimensions + 2)), x(kPoints * kDimensions);
  trn::rand::Generator generator(trn::rand::State{.seed = 2024});
  trn::rand::normal(trn::Executor::host(), generator,
                    trn::View<float>(trn::Executor::host(), z.data(), {static_cast<std::int64_t>(z.size())}));
  for (std::size_t i = 0; i < kPoints; ++i) {
    const float* random = z.data() + i * (kDimensions + 2);
    for (std::size_t j = 0; j < kDimensions; ++j) x[i * kDimensions + j] = 0.1f * random[j + 2];
    x[i * kDimensions] += 10 * random[0];
    x[i * kDimensions + 1] += 5 * random[1] * std::sqrt(0.5f);
    x[i * kDimensions + 2] += 5 * random[1] * std::sqrt(0.5f);
  }
  for (std::size_t j = 0; j < kDimensions; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < kPoints; ++i) mean += x[i * kDimensions + j] / static_cast<double>(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) x[i * kDimensions + j] -= static_cast<float>(mean);
  }
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names{"host", "sim:trn2"};
  if (argc == 3 && std::strcmp(argv[1], "--exec") == 0) names = {argv[2]};
  const std::vector<float> points = cloud();
  double whole = 0;
  for (const float x : points) whole += static_cast<double>(x) * x;
  bool right = true;
  for (const std::string& name : names) {
    const auto exec = trn::Executor::open(name);
    const auto x = trn::Matrix<float>::from_host(exec, kPoints, kDimensions, points);
    const trn::Recorder recorder(exec);
    const trn::solver::DenseOperator<float> op(x.view());
    const auto pca = trn::solver::rsvd<float>(op, 2, {.oversampling = 6, .power_iterations = 1, .seed = 1});
    const std::vector<float> direction = pca.vh.to_host();
    const double first = std::abs(direction[0]);
    const double second = std::abs(direction[kDimensions + 1] + direction[kDimensions + 2]) * std::sqrt(0.5);
    std::printf("%s: standard deviations %.2f and %.2f, cosines with the planted directions %.4f and %.4f\n",
                name.c_str(), pca.s[0] / std::sqrt(kPoints - 1.0), pca.s[1] / std::sqrt(kPoints - 1.0), first, second);
    std::printf("  left out of the model: at most %.2f%% of the squared length\n",
                100 * pca.report.error * pca.report.error / whole);
    // The noise is 58 of 60 directions of variance 0.01 beside 100 + 25. In a sample of n points the two directions mix
    // by an angle of about r 10 * 5 / (100 - 25), r their correlation, of size 1 / sqrt(n): 0.1 is three times that.
    right = right && pca.report.outcome.ok() && pca.report.guarantee == trn::solver::Guarantee::Rigorous &&
            first > 0.99 && second > 0.99 && std::abs(pca.s[0] / std::sqrt(kPoints - 1.0) - 10) < 1.5 &&
            std::abs(pca.s[1] / std::sqrt(kPoints - 1.0) - 5) < 0.75 &&
            pca.report.error * pca.report.error < 0.01 * whole &&
            recorder.family_of("blas.gemm") == trn::name(exec.family());
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
