// Training in bfloat16: the weights of a layer, and what the optimiser remembers of them, stored in 16 bits. To
// nearest, updates below half a unit in the last place are lost, every time: the loss stops falling, and a second
// moment never decays. Stochastically (trn/core/rounding.hpp) such updates arrive on average.
//
// The layer: Y = X W* with X 128 x 16 and W* 16 x 16; the loss of W is |X W - Y|^2 / (2 n), its gradient G = X^T (X W -
// Y) / n. W starts at 0. Products are exact ones of float32 matrices, so that every executor has the bits of the
// gradient and with them those of the whole training. The optimisers, on the executor, each line with one rounding to
// bfloat16 of everything that is stored:
//
//   SGD        W <- W - rate G
//   momentum   M <- 0.9 M + G,  W <- W - rate M
//   AdamW      M <- 0.9 M + 0.1 G,  V <- 0.999 V + 0.001 G^2,
//              W <- (1 - rate decay) W - rate (M / (1 - 0.9^t)) / (sqrt(V / (1 - 0.999^t)) + 1e-8)
//
// What is checked:
//   - SGD, stochastically: the mean of W is what float32 storage has, and every rounding adds a variance of at most a
//     quarter of a squared unit, so with h the eigenvalues of X^T X / n
//       E loss <= loss in float32 + sum over weights of (unit^2 / 4) / (2 rate (2 - rate h)),
//     which is held with twice the sum, |X^T X / n|_F in the place of h and the unit of the largest weight there was
//   - every optimiser, to nearest: its loss ends at least 10 times above the stochastic one; with SGD the last 50 steps
//     change no weight
//   - second moments without a gradient, V <- round(0.999 V) from 1: to nearest still 1; stochastically the mean of 512
//     is 0.999^k, to five standard errors. A step's variance is at most 0.001 V unit, the unit at most V / 128
//   - on a device, a few steps: every bit of W, M and V is the host's, and the updates ran there
//
//   57_training_in_16_bits [--exec NAME] [--steps 300; a device: 6] [--figure FILE.svg]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <trn/blas/narrow.hpp>
#include <trn/tensor/elementwise.hpp>
#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

using trn::Rounding;
using trn::blas::Op;
using trn::tensor::Binary;
using trn::tensor::Unary;

constexpr std::int64_t kSamples = 128, kFeatures = 16, kOutputs = 16, kWeights = kFeatures * kOutputs;
constexpr double kUnitOfOne = 0x1p-7;  // bfloat16

enum class Optimiser { Sgd, Momentum, AdamW };
enum class Storage { Float32, Nearest, Stochastic };

const char* name(Optimiser o) { return o == Optimiser::Sgd ? "SGD" : o == Optimiser::Momentum ? "momentum" : "AdamW"; }
float rate(Optimiser o) { return o == Optimiser::Sgd ? 0.05f : o == Optimiser::Momentum ? 0.005f : 0.01f; }

struct Problem {
  std::vector<float> x, w, y;
  double curvature;  // |X^T X / n|_F
};

Problem problem() {
  std::mt19937_64 engine(12);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> size(0.5f, 1.0f);
  Problem p{std::vector<float>(kSamples * kFeatures), std::vector<float>(kWeights),
            std::vector<float>(kSamples * kOutputs), 0};
  for (float& v : p.x) v = normal(engine);
  for (float& v : p.w) v = engine() % 2 == 0 ? size(engine) : -size(engine);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(p.x[static_cast<std::size_t>(i * kFeatures + j)]);
  };
  for (std::int64_t i = 0; i < kSamples; ++i) {
    for (std::int64_t j = 0; j < kOutputs; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < kFeatures; ++k)
        sum += at(i, k) * static_cast<double>(p.w[static_cast<std::size_t>(k * kOutputs + j)]);
      p.y[static_cast<std::size_t>(i * kOutputs + j)] = static_cast<float>(sum);
    }
  }
  for (std::int64_t a = 0; a < kFeatures; ++a) {
    for (std::int64_t b = 0; b < kFeatures; ++b) {
      double sum = 0;
      for (std::int64_t i = 0; i < kSamples; ++i) sum += at(i, a) * at(i, b) / static_cast<double>(kSamples);
      p.curvature += sum * sum;
    }
  }
  p.curvature = std::sqrt(p.curvature);
  return p;
}

double loss(const Problem& p, const std::vector<float>& w) {
  double sum = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    for (std::int64_t j = 0; j < kOutputs; ++j) {
      double r = -static_cast<double>(p.y[static_cast<std::size_t>(i * kOutputs + j)]);
      for (std::int64_t k = 0; k < kFeatures; ++k) {
        r += static_cast<double>(p.x[static_cast<std::size_t>(i * kFeatures + k)]) *
             static_cast<double>(w[static_cast<std::size_t>(k * kOutputs + j)]);
      }
      sum += r * r;
    }
  }
  return sum / (2 * static_cast<double>(kSamples));
}

// The number of a stored vector decides the seed of its words: no two draw the same ones.
enum Stored : std::uint64_t { kW, kM, kV };

// y <- round(alpha x + beta y).
template <class X> void update(const trn::Executor& exec, float alpha, const trn::Array<X>& x, float beta,
                               const trn::Array<trn::bfloat16>& y, Storage storage, Stored which, std::uint64_t step) {
  trn::blas::axpby(exec, alpha, trn::VectorView<const X>(exec, x.data(), kWeights, 1), beta,
                   trn::VectorView<trn::bfloat16>(exec, y.data(), kWeights, 1),
                   storage == Storage::Stochastic ? Rounding(Rounding::Stochastic{2026 + which, step}) : Rounding());
}
void update(const trn::Executor& exec, float alpha, const trn::Array<float>& x, float beta, const trn::Array<float>& y,
            Storage, Stored, std::uint64_t) {
  const trn::VectorView<float> to(exec, y.data(), kWeights, 1);
  trn::blas::scal(exec, beta, to);
  trn::blas::axpy(exec, alpha, trn::VectorView<const float>(exec, x.data(), kWeights, 1), to);
}

struct Training {
  std::vector<double> losses;    // before the first step and after each
  std::vector<float> w, m, v;    // at the end
  double largest = 0;            // weight there was
  std::int64_t last_change = 0;  // the last step that changed a weight
};

std::vector<float> on_host(const trn::Array<float>& a) { return a.to_host(); }
std::vector<float> on_host(const trn::Array<trn::bfloat16>& a) {
  std::vector<float> wide;
  for (const trn::bfloat16 v : a.to_host()) wide.push_back(static_cast<float>(v));
  return wide;
}

// T: what weights and moments are stored in.
template <class T>
Training train(const trn::Executor& exec, const Problem& p, Optimiser o, Storage storage, int steps) {
  const auto x = trn::Matrix<float>::from_host(exec, kSamples, kFeatures, p.x),
             y = trn::Matrix<float>::from_host(exec, kSamples, kOutputs, p.y);
  const std::vector<T> zeros(kWeights, T(0.0f));
  const auto stored = [&] { return trn::Array<T>::from_host(exec, {kWeights}, zeros); };
  const trn::Array<T> w = stored(), m = stored(), v = stored();
  const auto ones = trn::Array<float>::from_host(exec, {kWeights}, std::vector<float>(kWeights, 1.0f));
  const trn::Array<float> wide(exec, {kWeights}), g(exec, {kWeights}), s(exec, {kWeights}), u(exec, {kWeights});
  const trn::Matrix<float> r(exec, kSamples, kOutputs);
  const auto matrix = [&](const trn::Array<float>& a) {
    return trn::MatrixView<float>::row_major(exec, a.data(), kFeatures, kOutputs);
  };
  const trn::blas::GemmOptions exact{.precision = trn::Mode::Exact};
  const float step_size = rate(o), decay = 0.001f;
  Training t;
  std::vector<float> now = on_host(w);
  t.losses.push_back(loss(p, now));
  for (int step = 1; step <= steps; ++step) {
    const auto number = static_cast<std::uint64_t>(step);
    if constexpr (std::same_as<T, float>)
      trn::copy(w.view(), wide.view());
    else
      trn::blas::copy(exec, trn::VectorView<const T>(exec, w.data(), kWeights, 1),
                      trn::VectorView<float>(exec, wide.data(), kWeights, 1));
    trn::copy(trn::View<const float>(exec, y.view().data(), {kSamples, kOutputs}),
              trn::View<float>(exec, r.view().data(), {kSamples, kOutputs}));
    trn::blas::gemm(exec, Op::N, Op::N, 1.0f, x.view(), matrix(wide), -1.0f, r.view(), exact);
    trn::blas::gemm(exec, Op::T, Op::N, 1.0f / static_cast<float>(kSamples), x.view(), r.view(), 0.0f, matrix(g),
                    exact);
    if (o == Optimiser::Sgd) {
      update(exec, -step_size, g, 1.0f, w, storage, kW, number);
    } else if (o == Optimiser::Momentum) {
      update(exec, 1.0f, g, 0.9f, m, storage, kM, number);
      update(exec, -step_size, m, 1.0f, w, storage, kW, number);
    } else {
      trn::tensor::elementwise(exec, "a,a->a", Binary::Mul, {g.view(), g.view()}, s.view());
      update(exec, 0.1f, g, 0.9f, m, storage, kM, number);
      update(exec, 0.001f, s, 0.999f, v, storage, kV, number);
      const double first = 1 / (1 - std::pow(0.9, step)), second = 1 / std::sqrt(1 - std::pow(0.999, step));
      trn::tensor::elementwise(
          exec, "a,a->a", Binary::Add, {v.view(), ones.view()}, s.view(),
          {.unary = {Unary::Sqrt, Unary::Identity}, .scale = {second, 1e-8}, .result = Unary::Rcp});
      trn::tensor::elementwise(exec, "a,a->a", Binary::Mul, {m.view(), s.view()}, u.view(), {.scale = {first, 1.0}});
      update(exec, -step_size, u, 1.0f - step_size * decay, w, storage, kW, number);
    }
    const std::vector<float> next = on_host(w);
    if (next != now) t.last_change = step;
    now = next;
    for (const float value : now) t.largest = std::max(t.largest, std::abs(static_cast<double>(value)));
    t.losses.push_back(loss(p, now));
  }
  t.w = now, t.m = on_host(m), t.v = on_host(v);
  return t;
}

Training train(const trn::Executor& exec, const Problem& p, Optimiser o, Storage storage, int steps) {
  return storage == Storage::Float32 ? train<float>(exec, p, o, storage, steps)
                                     : train<trn::bfloat16>(exec, p, o, storage, steps);
}

// Second moments that no gradient feeds.
bool check_decay(const trn::Executor& exec, int steps) {
  constexpr std::int64_t kCount = 512;
  const auto nothing = trn::Array<float>::from_host(exec, {kCount}, std::vector<float>(kCount, 0.0f));
  const std::vector<trn::bfloat16> start(kCount, trn::bfloat16(1.0f));
  const auto lost = trn::Array<trn::bfloat16>::from_host(exec, {kCount}, start),
             kept = trn::Array<trn::bfloat16>::from_host(exec, {kCount}, start);
  const trn::VectorView<const float> zero(exec, nothing.data(), kCount, 1);
  const trn::VectorView<trn::bfloat16> a(exec, lost.data(), kCount, 1), b(exec, kept.data(), kCount, 1);
  for (int step = 1; step <= steps; ++step) {
    trn::blas::axpby(exec, 0.001f, zero, 0.999f, a);
    trn::blas::axpby(exec, 0.001f, zero, 0.999f, b, Rounding::Stochastic{7, static_cast<std::uint64_t>(step)});
  }
  bool right = true;
  double mean = 0;
  for (const float value : on_host(lost)) right = right && value == 1.0f;
  for (const float value : on_host(kept)) mean += static_cast<double>(value) / kCount;
  const double exact = std::pow(static_cast<double>(0.999f), steps), k = steps;
  const double error = exact * std::sqrt(0.001 * kUnitOfOne * k / kCount) + k * 0x1p-24;
  std::printf("second moments without a gradient after %d steps: exact %.4f, to nearest %s, stochastic %.4f +- %.4f\n",
              steps, exact, right ? "1" : "WRONG", mean, error);
  return right && std::abs(mean - exact) <= 5 * error;
}

bool check_host(const trn::Executor& exec, int steps, const std::string& figure) {
  const Problem p = problem();
  bool right = check_decay(exec, 700);
  std::printf("%d steps on %s: loss at the start %.3f, at the end\n            float32    to nearest    stochastic\n",
              steps, exec.name().c_str(), loss(p, std::vector<float>(kWeights, 0.0f)));
  std::vector<example::Series> lines;
  for (const Optimiser o : {Optimiser::Sgd, Optimiser::Momentum, Optimiser::AdamW}) {
    const Training wide = train(exec, p, o, Storage::Float32, steps), lost = train(exec, p, o, Storage::Nearest, steps),
                   kept = train(exec, p, o, Storage::Stochastic, steps);
    const double nearest = lost.losses.back(), stochastic = kept.losses.back();
    std::printf("  %-8s  %9.3g  %9.3g     %9.3g\n", name(o), wide.losses.back(), nearest, stochastic);
    right = right && nearest >= 10 * stochastic;
    if (o == Optimiser::Sgd) {
      const double unit = kUnitOfOne * std::exp2(std::floor(std::log2(kept.largest))),
                   lr = static_cast<double>(rate(o));
      const double bound = static_cast<double>(kWeights) * unit * unit / 4 / (2 * lr * (2 - lr * p.curvature));
      std::printf(
          "            to nearest the last change is in step %lld; the stochastic loss is at most %.3g on average\n",
          static_cast<long long>(lost.last_change), wide.losses.back() + bound);
      right = right && stochastic <= wide.losses.back() + 2 * bound && lost.last_change <= steps - 50;
    }
    if (o == Optimiser::Momentum) continue;
    for (const auto& [which, t] : {std::pair("float32", &wide), {"to nearest", &lost}, {"stochastic", &kept}}) {
      example::Series line{std::string(name(o)) + ", " + which, {}, t->losses};
      for (int i = 0; i <= steps; ++i) line.x.push_back(i);
      line.dashed = t == &wide;
      lines.push_back(line);
    }
  }
  if (!figure.empty())
    example::draw(figure, "Training with weights and moments in bfloat16", {"steps"}, {"loss", example::Scale::Log10},
                  lines);
  return right;
}

bool check_device(const trn::Executor& exec, int steps) {
  const Problem p = problem();
  const trn::Recorder recorder(exec);
  bool right = check_decay(exec, 10 * steps);
  for (const Optimiser o : {Optimiser::Sgd, Optimiser::Momentum, Optimiser::AdamW}) {
    for (const Storage storage : {Storage::Nearest, Storage::Stochastic}) {
      const Training here = train(trn::Executor::host(), p, o, storage, steps),
                     there = train(exec, p, o, storage, steps);
      const bool same = here.w == there.w && here.m == there.m && here.v == there.v;
      std::printf("  %-8s  %s  loss %.6g after %d steps, %s\n", name(o),
                  storage == Storage::Nearest ? "to nearest" : "stochastic", there.losses.back(), steps,
                  same ? "the bits of the host" : "OTHER BITS than the host");
      right = right && same;
    }
  }
  for (const char* operation : {"blas.axpby", "blas.gemm", "tensor.elementwise"})
    right = right && recorder.family_of(operation) == trn::name(exec.family());
  std::printf("%.2f ms modelled\n", 1e3 * recorder.modelled_seconds());
  return right && recorder.modelled_seconds() > 0;
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv, {{"--exec", "host"}, {"--steps", "0"}, {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const bool device = exec.family() == trn::Family::Device;
  const auto given = static_cast<int>(arguments.whole("--steps", 0, 100000));
  const int steps = given > 0 ? given : device ? 6 : 300;
  const bool right = device ? check_device(exec, steps) : check_host(exec, steps, arguments.text("--figure"));
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}
