// Sobol and Halton points on the host, by pieces of a dimension shared among threads.
//
// Sobol: point 256 b + t is point 256 b, plus (exclusive or) the sum of the vectors over the Gray code of t, for the
// Gray code is linear and the bits do not overlap: one table of 256 sums per dimension, one exclusive or per value.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/core/parallel.hpp>

#include "directions.hpp"
#include "host/permutation.hpp"
#include "host/sources.hpp"
#include "host/steps.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kTable = 256, kPiece = 1 << 14;  // points

// U: the fraction's type.
template <class U> class SobolDimension {
 public:
  SobolDimension(const Directions& v, std::uint64_t shift) : directions_(v), shift_(shift) {
    for (std::uint64_t t = 0; t < kTable; ++t) table_[t] = narrow(sum(t));
  }
  void points(std::uint64_t first, std::int64_t n, U* out) const {
    while (n > 0) {
      const std::uint64_t t = first % kTable;
      const std::int64_t size = std::min(n, kTable - static_cast<std::int64_t>(t));
      xor_table(size, table_.data() + t, narrow(sum(first - t) ^ shift_), out);
      first += static_cast<std::uint64_t>(size);
      out += size;
      n -= size;
    }
  }

 private:
  static U narrow(std::uint64_t x) { return static_cast<U>(x >> (64 - 8 * sizeof(U))); }
  std::uint64_t sum(std::uint64_t n) const { return sobol_fraction(directions_, n); }
  Directions directions_;
  std::uint64_t shift_;
  std::array<U, kTable> table_;
};

// The first kSobolDimensions primes.
const std::vector<std::uint32_t>& primes() {
  static const std::vector<std::uint32_t> all = [] {
    constexpr std::uint32_t kEnd = 240'000;  // the 21201st prime is 239737
    std::vector<bool> composite(kEnd, false);
    std::vector<std::uint32_t> found;
    for (std::uint32_t p = 2; p < kEnd && found.size() < kSobolDimensions; ++p) {
      if (composite[p]) continue;
      found.push_back(p);
      for (std::uint64_t q = std::uint64_t{p} * p; q < kEnd; q += p) composite[static_cast<std::size_t>(q)] = true;
    }
    return found;
  }();
  return all;
}

// The digits of n in base b, mirrored, are the number R of K digits, and the coordinate is R / b^K, here as the integer
// R * 2^64 / b^K rounded down. K is as large as b^K < 2^63 allows: more digits than a point number below 2^32 has;
// those above are zeros, which count once they are permuted.
class HaltonDimension {
 public:
  HaltonDimension(std::uint32_t dimension, bool scrambled, std::uint64_t seed) : base_(primes()[dimension]) {
    while (whole_ < (std::uint64_t{1} << 63) / base_) whole_ *= base_, ++digits_;
    for (std::uint64_t k = 0; scrambled && k < digits_; ++k) {
      places_.emplace_back(base_, mix(mix(seed, dimension), k));
    }
  }
  void points(std::uint64_t first, std::int64_t n, std::uint64_t* out) const {
    for (std::int64_t i = 0; i < n; ++i) {
      std::uint64_t rest = first + static_cast<std::uint64_t>(i), mirrored = 0;
      for (std::size_t k = 0; k < digits_; ++k, rest /= base_) {
        const std::uint64_t digit = rest % base_;
        mirrored = mirrored * base_ + (places_.empty() ? digit : places_[k](digit));
      }
      out[i] = static_cast<std::uint64_t>((Wide{mirrored} << 64) / whole_);
    }
  }

 private:
  std::uint64_t base_, whole_ = 1, digits_ = 0;
  std::vector<Permutation> places_;
};

// Values of the draw from 32-bit fractions that `make` writes.
template <class F> void finish32(Draw draw, std::int64_t n, std::byte* out, F make) {
  if (element_bytes(draw) == 4) {
    make(reinterpret_cast<std::uint32_t*>(out));
    return convert_words(draw, n, out);
  }
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
  make(words.data());
  doubles_from_words(n, words.data(), draw == Draw::OpenClosedDouble ? 0x1p-32 : 0.0, reinterpret_cast<double*>(out));
}

template <class F> void finish64(Draw draw, std::int64_t n, std::byte* out, F make) {
  if (element_bytes(draw) == 8) {
    make(reinterpret_cast<std::uint64_t*>(out));
    return draw == Draw::OpenClosedDouble ? open_closed_doubles(n, out) : convert_words(draw, n, out);
  }
  std::vector<std::uint64_t> fractions(static_cast<std::size_t>(n));
  make(fractions.data());
  auto* words = reinterpret_cast<std::uint32_t*>(out);
  for (std::int64_t i = 0; i < n; ++i)
    words[i] = static_cast<std::uint32_t>(fractions[static_cast<std::size_t>(i)] >> 32);
  convert_words(draw, n, out);
}

Nested nested(std::uint64_t seed, std::uint64_t dimension) {
  const std::uint64_t key = mix(seed, dimension), a = mix(key, 1), b = mix(key, 2), c = mix(key, 3), d = mix(key, 4);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return {low(a), low(a >> 32) & ~1u, low(b) | 1u, low(b >> 32) & ~1u, low(c) | 1u, low(d), low(c >> 32) & ~1u};
}

// Points first .. first + n - 1 of one dimension.
void fill_dimension(const State& s, std::uint32_t dimension, Draw draw, std::int64_t points, std::byte* out) {
  const auto pieces = [&](auto run) {
    for (std::int64_t at = 0; at < points; at += kPiece) {
      run(s.position + static_cast<std::uint64_t>(at), std::min(kPiece, points - at), out + at * element_bytes(draw));
    }
  };
  switch (s.algorithm) {
    case Algorithm::Sobol32:
    case Algorithm::ScrambledSobol32:
    case Algorithm::OwenSobol32: {
      const Scrambled v = sobol_vectors(s.algorithm, dimension);
      const SobolDimension<std::uint32_t> sobol(v.directions, v.shift);
      const Nested by = nested(s.seed, dimension);
      return pieces([&](std::uint64_t first, std::int64_t n, std::byte* to) {
        finish32(draw, n, to, [&](std::uint32_t* words) {
          sobol.points(first, n, words);
          if (s.algorithm == Algorithm::OwenSobol32) permute_nested(by, n, words);
        });
      });
    }
    case Algorithm::Sobol64:
    case Algorithm::ScrambledSobol64: {
      const Scrambled v = sobol_vectors(s.algorithm, dimension);
      const SobolDimension<std::uint64_t> sobol(v.directions, v.shift);
      return pieces([&](std::uint64_t first, std::int64_t n, std::byte* to) {
        finish64(draw, n, to, [&](std::uint64_t* fractions) { sobol.points(first, n, fractions); });
      });
    }
    default: {
      const HaltonDimension halton(dimension, s.algorithm == Algorithm::ScrambledHalton, s.seed);
      return pieces([&](std::uint64_t first, std::int64_t n, std::byte* to) {
        finish64(draw, n, to, [&](std::uint64_t* fractions) { halton.points(first, n, fractions); });
      });
    }
  }
}

}  // namespace

// A task is a run of points of one dimension, long enough that its tables cost little.
void fill_quasi(const State& state, Draw draw, std::int64_t n, void* out) {
  constexpr std::int64_t kTask = 16 * kPiece;
  const std::int64_t points = n / state.dimensions, parts = (points + kTask - 1) / kTask;
  const std::int64_t tasks = parts * state.dimensions;
  parallel_for(tasks, n >= kTask / 16, [&](std::int64_t task) {
    const std::int64_t dimension = task / parts, at = task % parts * kTask;
    State here = state;
    here.position += static_cast<std::uint64_t>(at);
    fill_dimension(here, static_cast<std::uint32_t>(dimension), draw, std::min(kTask, points - at),
                   static_cast<std::byte*>(out) + (dimension * points + at) * element_bytes(draw));
  });
}

}  // namespace trn::rand::host
