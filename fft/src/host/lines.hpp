// Lines: many one-dimensional transforms of one length at once, the seam between the host's N-D driver and its 1-D
// engines.
//
// Every engine computes the forward transform. The inverse is the forward one with real and imaginary parts exchanged
// on both sides: i conj(z) exchanges them, and F^-1(z) = i conj(F(i conj(z))). So the driver swaps two addresses and no
// engine knows a direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace trn::fft::host {

// The points of one side: point j of line (b0, b1, ...) lies at re[j * stride + b0 * distance0 + ...], im likewise;
// strides and distances count reals. For a real side im is null.
struct Lines {
  void* re = nullptr;
  void* im = nullptr;
  std::int64_t stride = 1;
};
// The lines of a call: the same counts on both sides, a distance for each. The fastest varying is last. Empty means one
// line.
struct LineBatch {
  std::int64_t count = 1, input_distance = 0, output_distance = 0;
};
[[nodiscard]] inline std::int64_t line_count(const std::vector<LineBatch>& batch) {
  std::int64_t lines = 1;
  for (const LineBatch& b : batch) lines *= b.count;
  return lines;
}

// Where a line begins on both sides, counting through the batch dimensions.
class LineCounter {
 public:
  LineCounter(const std::vector<LineBatch>& batch, std::int64_t line) : batch_(batch.data()), count_(batch.size()) {
    if (count_ == 0) return;
    std::fill_n(digit_, count_, 0);
    for (std::size_t i = count_; i-- > 1;) {
      add(i, line % batch_[i].count);
      line /= batch_[i].count;
    }
    add(0, line);
  }
  std::int64_t from = 0, to = 0;
  // Lines from here on that are equally far apart.
  [[nodiscard]] std::int64_t run() const { return count_ == 0 ? 1 : batch_[count_ - 1].count - digit_[count_ - 1]; }
  void advance(std::int64_t lines) {  // at most run()
    if (count_ == 0) return;
    add(count_ - 1, lines);
    for (std::size_t i = count_; i-- > 1 && digit_[i] == batch_[i].count;) {
      add(i, -batch_[i].count);
      add(i - 1, 1);
    }
  }

 private:
  void add(std::size_t i, std::int64_t steps) {
    digit_[i] += steps;
    from += steps * batch_[i].input_distance;
    to += steps * batch_[i].output_distance;
  }
  static constexpr std::size_t kMost = 32;
  const LineBatch* batch_;
  std::size_t count_;
  std::int64_t digit_[kMost];
};

// Immutable. T is float or double; n >= 1.
//   Complex  out_k = factor * sum_j in_j exp(-2 pi i jk/n)
//   RealToHalf  the same of a real line, k = 0 .. n/2
//   HalfToReal  out_j = factor * sum over k of X_k exp(+2 pi i jk/n), X the Hermitian extension of the n/2 + 1 points
//     given; im of point 0 (and n/2 for
//               even n) is taken as 0
// Input and output may be the same memory with the same layout for every line (complex), or FFTW's padded layout
// (real); otherwise they do not overlap. run() uses up to `threads` threads (trn/core/team.hpp), over lines and within
// long ones.
template <class T> [[nodiscard]] double direct_sum_bound(std::int64_t n);

enum class EngineKind : std::uint8_t { Complex, RealToHalf, HalfToReal };
// A whole call as one function: for short interleaved lines that need neither scratch nor threads.
struct DirectLines {
  void (*run)(const void* context, const void* in, void* out) = nullptr;  // null: there is none
  std::shared_ptr<const void> context;
};
template <class T> class Engine {
 public:
  virtual ~Engine() = default;
  // Of interleaved sides with these strides in reals; addresses are those of the pairs, also for the inverse.
  [[nodiscard]] virtual DirectLines direct(std::int64_t in_stride, std::int64_t out_stride,
                                           const std::vector<LineBatch>& batch, bool inverse, double factor,
                                           int threads) const = 0;
  // Scratch for run() with this many threads, 64-byte aligned.
  [[nodiscard]] virtual std::int64_t scratch_bytes(int threads) const = 0;
  // || result - exact ||_2 <= bound() * || exact ||_2 for each line of n points (a half line counts with its mirror
  //   image), without the factor's
  // rounding. Unless an engine knows better: a chain of direct sums over the prime factors p of n. A p-point sum of
  // complex products errs by at most (p + 4) u times the sum of moduli (p - 1 additions, 2 sqrt(2) u for a product,
  // sqrt(2)/2 u for its root, to first order), and the matrix of moduli has the norm p, which is sqrt(p) times that of
  // the DFT.
  [[nodiscard]] virtual double bound() const { return direct_sum_bound<T>(length()); }
  [[nodiscard]] virtual std::int64_t length() const = 0;
  virtual void run(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, double factor,
                   std::byte* scratch, int threads) const = 0;
};

// `lines` is how many lines a call will bring: a hint for the choice between SIMD across lines and SIMD within one.
template <class T>
[[nodiscard]] std::shared_ptr<const Engine<T>> make_engine(EngineKind kind, std::int64_t n, std::int64_t lines);

}  // namespace trn::fft::host
