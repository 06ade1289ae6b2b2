// The host kernels of integers, permutation, shuffle and choice: exact integer arithmetic. The numbers are drawn by all
// threads; exchanges are one after another.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "element_words.hpp"
#include "host/blocks.hpp"
#include "host/continuous_samplers.hpp"
#include "host/pieces.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

constexpr std::uint64_t kWordValues = std::uint64_t{1} << 32;

State at(const State& state, std::int64_t by) {
  State s = state;
  s.position += static_cast<std::uint64_t>(by);
  return s;
}

// Lemire (2019): the high word of word * range, unless the low word is among the first 2^32 mod range: those would make
// some results likelier. Rejected words are replaced from the element's own sequence.
std::uint32_t below(std::uint64_t range, std::uint32_t word, const State& state, std::int64_t element) {
  std::uint64_t product = word * range;
  if (low_word(product) < range && range < kWordValues) {
    const auto rejected = static_cast<std::uint32_t>(kWordValues % range);
    if (low_word(product) < rejected) {
      ElementWords words(state, state.position + static_cast<std::uint64_t>(element));
      do product = words.next32() * range;
      while (low_word(product) < rejected);
    }
  }
  return high_word(product);
}

// numbers[i] = a number below population - i: with whom number i changes places, counted from i.
std::vector<std::uint32_t> exchanges(const State& state, std::int64_t population, std::int64_t count) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(count));
  for_pieces<std::uint32_t>(
      numbers.data(), {count}, {1}, 1, [&](std::int64_t first, std::int64_t n, std::uint32_t* to) {
        fill_run(at(state, first), Draw::Raw32, n, to);
        for (std::int64_t i = 0; i < n; ++i) {
          to[i] = below(static_cast<std::uint64_t>(population - first - i), to[i], state, first + i);
        }
      });
  return numbers;
}

std::vector<std::int32_t> chosen(const State& state, std::int64_t population, std::int64_t count) {
  const std::vector<std::uint32_t> numbers = exchanges(state, population, count);
  std::vector<std::int32_t> result(numbers.size());
  constexpr std::int64_t kSparse = 16;  // a table of the population costs less than a map from here on
  if (population <= kSparse * count) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(population));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::swap(order[i], order[i + numbers[i]]);
      result[i] = order[i];
    }
    return result;
  }
  std::unordered_map<std::size_t, std::int32_t> moved;  // places that no longer hold their own number
  const auto value_at = [&](std::size_t i) {
    const auto it = moved.find(i);
    return it == moved.end() ? static_cast<std::int32_t>(i) : it->second;
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t j = i + numbers[i];
    result[i] = value_at(j);
    moved[j] = value_at(i);
  }
  return result;
}

// u total with u = x 2^-64, x the number's two words: the first member whose cumulated weight exceeds it.
std::vector<std::int32_t> chosen_weighted(const State& state, std::span<const double> weights, std::int64_t count) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  std::size_t last = weights.size() - 1;
  while (weights[last] == 0) --last;
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  for_pieces<std::int32_t>(result.data(), {count}, {1}, 1, [&](std::int64_t first, std::int64_t n, std::int32_t* to) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(2 * n));
    fill_run(at(state, 2 * first), Draw::Raw32, 2 * n, words.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(2 * i);
      const double u = static_cast<double>(std::uint64_t{words[k + 1]} << 32 | words[k]) * 0x1p-64;
      const auto found = std::upper_bound(sums.begin(), sums.end(), u * sums.back());
      to[i] = static_cast<std::int32_t>(std::min(static_cast<std::size_t>(found - sums.begin()), last));
    }
  });
  return result;
}

std::vector<std::int32_t> chosen_weighted_apart(const State& state, std::span<const double> weights,
                                                std::int64_t count) {
  const auto members = static_cast<std::int64_t>(weights.size());
  std::vector<double> keys(weights.size());
  for_pieces<double>(keys.data(), {members}, {1}, 1, [&](std::int64_t first, std::int64_t n, double* to) {
    for (std::int64_t i = 0; i < n; ++i) {
      ElementWords words(state, state.position + static_cast<std::uint64_t>(first + i));
      const double weight = weights[static_cast<std::size_t>(first + i)];
      // The order of exponential / weight, in logarithms: no weight is too small for its key.
      to[i] = weight > 0 ? scalar::log(standard_exponential(words)) - scalar::log(weight) : scalar::kInfinity;
    }
  });
  std::vector<std::int32_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  const auto smaller = [&](std::int32_t a, std::int32_t b) {
    const double x = keys[static_cast<std::size_t>(a)], y = keys[static_cast<std::size_t>(b)];
    return x < y || (x == y && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), smaller);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace

void integers(const Executor&, const IntegersArgs& args) {
  const auto low = static_cast<std::uint32_t>(args.low);
  for_pieces<std::uint32_t>(args.out.data, args.out.shape, args.out.strides, 1,
                            [&](std::int64_t first, std::int64_t count, std::uint32_t* to) {
                              fill_run(at(args.state, first), Draw::Raw32, count, to);
                              for (std::int64_t i = 0; i < count; ++i) {
                                to[i] = low + below(args.range, to[i], args.state, first + i);
                              }
                            });
}

void choose(const Executor&, const ChooseArgs& args) {
  const std::int64_t count = element_count(args.out.shape);
  const bool apart = args.replacement == Replacement::Without;
  std::vector<std::int32_t> result;
  if (args.weights.empty()) {
    result = chosen(args.state, args.population, count);  // with replacement the entry point calls integers
  } else {
    result = apart ? chosen_weighted_apart(args.state, args.weights, count)
                   : chosen_weighted(args.state, args.weights, count);
  }
  scatter(static_cast<std::int32_t*>(args.out.data), args.out.shape, args.out.strides, 0, count,
          static_cast<const std::int32_t*>(result.data()));
}

// Rows in their new order into a packed copy, then back.
void shuffle(const Executor&, const ShuffleArgs& args) {
  const std::int64_t rows = args.out.shape[0], bytes = args.element_bytes;
  const Shape inner(args.out.shape.begin() + 1, args.out.shape.end());
  const std::int64_t length = element_count(inner);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(length), 0);  // of a row's elements, in bytes
  for (std::int64_t i = 0; i < length; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = inner.size(); d-- > 0; rest /= inner[d]) {
      offsets[static_cast<std::size_t>(i)] += rest % inner[d] * args.out.strides[d + 1] * bytes;
    }
  }
  const auto row = [&](std::int64_t r) {
    return static_cast<std::byte*>(args.out.data) + r * args.out.strides[0] * bytes;
  };
  std::vector<std::byte> copy(static_cast<std::size_t>(rows * length * bytes));
  const auto size = static_cast<std::size_t>(bytes);
  std::byte* to = copy.data();
  for (const std::int32_t from : chosen(args.state, rows, rows)) {
    for (const std::int64_t offset : offsets) std::memcpy(to, row(from) + offset, size), to += size;
  }
  const std::byte* packed = copy.data();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (const std::int64_t offset : offsets) std::memcpy(row(r) + offset, packed, size), packed += size;
  }
}

}  // namespace trn::rand::host
