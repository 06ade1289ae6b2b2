// The Ising model on an n x n lattice with open borders as a tensor network: one tensor for each spin, a label of two
// values for each bond. One einsum of n^2 operands is the partition function; its plan finds the order, and a memory
// limit cuts it into slices. Checked against the transfer of the 2^n states of a row.
//
//   exp(b s t) = sum_x w(s, x) w(t, x),  w = sqrt(cosh b) for x = 0 and s sqrt(sinh b) for x = 1
#include <cmath>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"

namespace {

using namespace trn;

double weight(int spin, std::int64_t x, double b) {
  return x == 0 ? std::sqrt(std::cosh(b)) : spin * std::sqrt(std::sinh(b));
}

// log Z by adding one row after another: all states of a row, from left to right.
double by_transfer(std::int64_t n, double b) {
  const std::size_t states = std::size_t{1} << n;
  const auto spin = [](std::size_t state, std::int64_t i) { return (state >> i) & 1U ? 1.0 : -1.0; };
  std::vector<double> row(states, 1);
  double log_scale = 0;
  for (std::int64_t r = 0; r < n; ++r) {
    if (r > 0) {
      for (std::int64_t i = 0; i < n; ++i) {  // bonds to the row above, one spin at a time
        for (std::size_t s = 0; s < states; ++s) {
          const std::size_t flipped = s ^ (std::size_t{1} << i);
          if (flipped < s) continue;
          const double same = row[s], other = row[flipped];
          row[s] = std::exp(b) * same + std::exp(-b) * other;
          row[flipped] = std::exp(-b) * same + std::exp(b) * other;
        }
      }
    }
    double top = 0;
    for (std::size_t s = 0; s < states; ++s) {
      double energy = 0;
      for (std::int64_t i = 0; i + 1 < n; ++i) energy += spin(s, i) * spin(s, i + 1);
      row[s] *= std::exp(b * energy);
      top = std::max(top, row[s]);
    }
    for (double& x : row) x /= top;
    log_scale += std::log(top);
  }
  double sum = 0;
  for (const double x : row) sum += x;
  return std::log(sum) + log_scale;
}

template <class T> int run(const Executor& executor, std::int64_t n, double b, double tolerance) {
  // Bond numbers are labels: to the right of spin (i, j), and below it.
  const auto right = [n](std::int64_t i, std::int64_t j) { return static_cast<tensor::Label>(2 * (i * n + j)); };
  const auto below = [n](std::int64_t i, std::int64_t j) { return static_cast<tensor::Label>(2 * (i * n + j) + 1); };
  std::vector<std::vector<tensor::Label>> labels;
  std::vector<std::int64_t> ranks;
  std::vector<Array<T>> tensors;
  tensors.reserve(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::vector<tensor::Label> bonds;
      if (j > 0) bonds.push_back(right(i, j - 1));
      if (i > 0) bonds.push_back(below(i - 1, j));
      if (j + 1 < n) bonds.push_back(right(i, j));
      if (i + 1 < n) bonds.push_back(below(i, j));
      std::vector<T> values(std::size_t{1} << bonds.size());
      for (std::size_t at = 0; at < values.size(); ++at) {
        for (const int spin : {-1, 1}) {
          double product = 1;
          for (std::size_t x = 0; x < bonds.size(); ++x)
            product *= weight(spin, static_cast<std::int64_t>(at >> x & 1), b);
          values[at] += static_cast<T>(product / 2);  // Z / 2^(n^2), which float holds
        }
      }
      labels.push_back(bonds);
      ranks.push_back(static_cast<std::int64_t>(bonds.size()));
      tensors.push_back(Array<T>::from_host(executor, Shape(bonds.size(), 2), values));
    }
  }
  tensor::Description what;
  what.expression = tensor::interleaved(labels, std::vector<tensor::Label>{}, ranks);
  std::vector<tensor::TypedView> views;
  for (const Array<T>& t : tensors) {
    views.emplace_back(t.view());
    what.operands.push_back(tensor::operand_of(views.back()));
  }
  const Array<T> z(executor, {});
  what.output = tensor::operand_of(z.view());
  const double want = by_transfer(n, b), half_states = static_cast<double>(n * n) * std::log(2.0);
  bool good = true;
  std::int64_t memory = 0;
  for (const char* name : {"whole", "in slices"}) {
    what.memory_bytes = memory;
    const tensor::Plan plan(executor, what);
    plan.execute(views, z.view());
    const double log_z = std::log(static_cast<double>(z.to_host()[0])) + half_states;
    const double error = std::abs(std::expm1(log_z - want));
    std::printf(
        "%-9s  ln Z %.12f, relative error %.1e; %lld contractions, %.3g flop, %lld bytes of intermediates, "
        "%lld passes\n",
        name, log_z, error, static_cast<long long>(plan.slices().path.steps.size()), plan.flops(),
        static_cast<long long>(plan.intermediate_bytes()), static_cast<long long>(plan.slices().passes));
    good =
        good && error < tolerance && (memory == 0 || (plan.intermediate_bytes() <= memory && plan.slices().passes > 1));
    memory = plan.intermediate_bytes() / 2;
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] {
    const example::Arguments arguments(argc, argv,
                                       {{"--exec", "host"}, {"--n", "6"}, {"--beta", "0.4406867935097715"}});
    const Executor executor = Executor::open(arguments.text("--exec"));
    const std::int64_t n = arguments.whole("--n", 5, 12);  // smaller lattices have too little memory to halve
    const double b = arguments.number("--beta");
    std::printf("Ising model, %lld x %lld spins, beta %.6f, on %s\n", static_cast<long long>(n),
                static_cast<long long>(n), b, std::string(executor.name()).c_str());
    // Devices multiply in float.
    return executor.family() == Family::Host ? run<double>(executor, n, b, 1e-11) : run<float>(executor, n, b, 1e-4);
  });
}
