// The host kernel of latin_hypercube: element (j, i) is (P_j(i) + u) / points, kept below the slice's end when it is
// rounded.
#include <cmath>

#include "host/permutation.hpp"
#include "host/pieces.hpp"
#include "host/words.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

template <class T> void run(const LatinArgs& args) {
  const std::int64_t dimensions = args.out.shape[0], points = args.out.shape[1];
  const DrawWords source(args.state, 0, dimensions * points);
  const std::uint64_t key = mix(mix(args.state.seed, args.state.stream), args.state.position);
  for_pieces<T>(args.out.data, args.out.shape, args.out.strides, 1, [&](std::int64_t first, std::int64_t n, T* to) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
    source.read(first, n, words.data());
    const auto permutation = [&](std::int64_t j) {
      return Permutation(static_cast<std::uint64_t>(points), mix(key, static_cast<std::uint64_t>(j)));
    };
    Permutation permuted = permutation(first / points);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i > 0 && (first + i) % points == 0) permuted = permutation((first + i) / points);
      const auto slice = static_cast<double>(permuted(static_cast<std::uint64_t>((first + i) % points)));
      const double u = words[static_cast<std::size_t>(i)] * 0x1p-32, end = (slice + 1) / static_cast<double>(points);
      const T value = static_cast<T>((slice + u) / static_cast<double>(points));
      // Rounding may leave the slice [slice / points, end) on either side.
      const double begin = slice / static_cast<double>(points);
      to[i] = static_cast<double>(value) >= end    ? std::nextafter(static_cast<T>(end), T{0})
              : static_cast<double>(value) < begin ? std::nextafter(value, T{1})
                                                   : value;
    }
  });
}

}  // namespace

void latin_hypercube(const Executor&, const LatinArgs& args) {
  if (args.out.dtype == DType::Float64) return run<double>(args);
  run<float>(args);
}

}  // namespace trn::rand::host
