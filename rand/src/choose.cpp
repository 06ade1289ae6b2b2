// The entry points of integers, permutation, shuffle and choice.
#include <cmath>
#include <limits>
#include <trn/core/enumerators.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/permutation.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

constexpr std::int64_t kMostMembers = (std::int64_t{1} << 31) - 1;

// The generator after `words` words; throws when there are none that many.
Generator advanced(const Generator& generator, std::int64_t words) {
  Generator after = generator;
  after.skip(static_cast<std::uint64_t>(words));
  return after;
}

template <class T> void draw_integers(const Executor& executor, Generator& generator, const View<T>& out,
                                      std::int64_t low, std::int64_t high) {
  const char* operation = kIntegers.operation;
  const Output checked = checked_output(operation, executor, out);
  check_element_words(operation, generator.state());
  require(low < high, "{}: low is {} and high is {}; the values are low .. high - 1, so low must be below high",
          operation, low, high);
  const std::int64_t least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  require(low >= least && high - 1 <= most, "{}: the values {} .. {} do not fit {}, which holds {} .. {}", operation,
          low, high - 1, name(dtype_of<T>), least, most);
  if (out.size() == 0) return;
  const Generator after = advanced(generator, out.size());
  dispatch(kIntegers, executor, {generator.state(), low, static_cast<std::uint64_t>(high - low), checked});
  generator = after;
}

template <class T> void draw_shuffle(const Executor& executor, Generator& generator, const View<T>& values) {
  const char* operation = kShuffle.operation;
  const Output checked = checked_output(operation, executor, values);
  check_element_words(operation, generator.state());
  require(values.rank() >= 1, "{}: a single number has no order; give an array", operation);
  if (values.size() == 0) return;
  const std::int64_t rows = values.shape()[0];
  require(rows <= kMostMembers, "{}: {} rows; at most {}", operation, rows, kMostMembers);
  const Generator after = advanced(generator, rows);
  dispatch(kShuffle, executor, {generator.state(), static_cast<std::int64_t>(sizeof(T)), checked});
  generator = after;
}

// How many have a positive weight.
std::int64_t check_weights(const char* operation, std::span<const double> weights, std::int64_t population) {
  require(static_cast<std::int64_t>(weights.size()) == population,
          "{}: {} weights for a population of {}; give one each", operation, weights.size(), population);
  std::int64_t positive = 0;
  double sum = 0;
  for (const double w : weights) {
    require(std::isfinite(w) && w >= 0, "{}: a weight is {}; weights are finite and at least 0", operation, w);
    positive += w > 0 ? 1 : 0;
    sum += w;
  }
  require(positive > 0, "{}: all weights are 0; give at least one positive weight", operation);
  require(std::isfinite(sum), "{}: the weights sum to {}; scale them down", operation, sum);
  return positive;
}

}  // namespace

void integers(const Executor& executor, Generator& generator, const View<std::int32_t>& out, std::int64_t low,
              std::int64_t high) {
  draw_integers(executor, generator, out, low, high);
}
void integers(const Executor& executor, Generator& generator, const View<std::uint32_t>& out, std::int64_t low,
              std::int64_t high) {
  draw_integers(executor, generator, out, low, high);
}

void permutation(const Executor& executor, Generator& generator, const View<std::int32_t>& out) {
  const char* operation = kPermutation.operation;
  const Output checked = checked_output(operation, executor, out);
  check_element_words(operation, generator.state());
  if (out.size() == 0) return;
  require(out.size() <= kMostMembers, "{}: {} numbers; at most {}", operation, out.size(), kMostMembers);
  const Generator after = advanced(generator, out.size());
  dispatch(kPermutation, executor, {generator.state(), out.size(), Replacement::Without, {}, checked});
  generator = after;
}

void shuffle(const Executor& executor, Generator& generator, const View<float>& values) {
  draw_shuffle(executor, generator, values);
}
void shuffle(const Executor& executor, Generator& generator, const View<double>& values) {
  draw_shuffle(executor, generator, values);
}
void shuffle(const Executor& executor, Generator& generator, const View<std::int32_t>& values) {
  draw_shuffle(executor, generator, values);
}

void choice(const Executor& executor, Generator& generator, const View<std::int32_t>& out, std::int64_t population,
            const ChoiceOptions& options) {
  const char* operation = kChoice.operation;
  operands::check_enumerator(operation, "Replacement", options.replacement, Replacement::Without);
  const Output checked = checked_output(operation, executor, out);
  check_element_words(operation, generator.state());
  require(population >= 1 && population <= kMostMembers, "{}: population is {}; it must be 1 to {}", operation,
          population, kMostMembers);
  const bool weighted = !options.weights.empty(), apart = options.replacement == Replacement::Without;
  const std::int64_t available = weighted ? check_weights(operation, options.weights, population) : population;
  require(!apart || out.size() <= available,
          "{}: {} different numbers of {} that can be chosen; ask for fewer or use Replacement::With", operation,
          out.size(), available);
  if (out.size() == 0) return;
  const std::int64_t words = !weighted ? out.size() : 2 * (apart ? population : out.size());
  const Generator after = advanced(generator, words);
  if (!weighted && !apart) {
    dispatch(kChoiceWith, executor, {generator.state(), 0, static_cast<std::uint64_t>(population), checked});
  } else {
    dispatch(kChoice, executor, {generator.state(), population, options.replacement, options.weights, checked});
  }
  generator = after;
}

}  // namespace trn::rand
