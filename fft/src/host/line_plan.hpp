// What the 1-D engines know before they run: passes, twiddles, splits. Data only; the code that runs it is compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "lines.hpp"

namespace trn::fft::host {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};
template <class T>
using Aligned = std::vector<T, CacheLineAllocator<T>>;

// A transform of smooth length n as passes over a block of n rows, one row of re and one of im vectors per point, each lane its own transform.
// Stockham's ordering: with l the product of the radices done, r this one, n = l r m,
//   y[(q r + t) l + s] = w_(rm)^(qt) sum_p x[(p m + q) l + s] w_r^(pt),   q < m, s < l, t < r.
// Input and output are both in natural order, and the last pass (m = 1) can work in place.
template <class T>
struct Passes {
  struct Pass {
    int radix = 1;
    std::int64_t l = 1, m = 1;
    std::size_t twiddles = 0;   // [m][radix - 1][2] in table
    std::size_t constants = 0;  // cos and sin [h][h][2] of a prime above 13
  };
  std::int64_t n = 1;
  std::vector<Pass> passes;
  Aligned<T> table;
};
template <class T>
[[nodiscard]] Passes<T> make_passes(std::int64_t n);

// One line, SIMD within it.
//   Scalar     passes with one lane
//   TwoStep    n = n1 n2, a codelet each: the four steps below without passes, blocks or calls
//   FourStep   n = n1 n2: columns of n1 with `lanes` neighbouring columns in the lanes, twiddles, transposition of blocks, columns of n2
//   Split      n = n1 n2, n1 smooth: n1 lines of n2 = any length, twiddles, columns of n1
//   Rader      n prime, n - 1 smooth: a cyclic convolution of length n - 1
//   Bluestein  any n: a convolution of smooth length >= 2 n - 1
//   Wide       float only: long convolutions in double, since two long transforms in a row leave float's error too large
enum class LineKind : std::uint8_t { Scalar, TwoStep, FourStep, Split, Rader, Bluestein, Wide };
template <class T>
struct LinePlan;
// A complex line by itself: the shortest way in.
template <class T>
using OneLine = void (*)(const LinePlan<T>& plan, T* in_re, T* in_im, std::int64_t in_stride, T* out_re, T* out_im, std::int64_t out_stride, T factor, T* scratch, int threads);
template <class T>
[[nodiscard]] OneLine<T> one_line();

template <class T>
struct LinePlan {
  LineKind kind = LineKind::Scalar;
  std::int64_t n = 1, n1 = 1, n2 = 1;
  int lanes = 1, second_lanes = 1;  // of the columns of n1 and, for TwoStep, of n2
  double cost = 0;                  // estimated, in operations of the widest vectors
  Passes<T> first, second;
  // FourStep: w_n^(j k), block by block of columns j: [block][k < n1][2][lanes]; or, if `factored`, the first block's and for each block the
  // number w_n^(j0 k), [block][k][2], to multiply it with. TwoStep: w_n^(j k), [k < n1][2][16]. Split: w_n^(j k), [j < n1][2][n2].
  Aligned<T> twiddles, block_twiddles;
  std::shared_ptr<const LinePlan> inner;
  std::shared_ptr<const LinePlan<double>> wide;
  OneLine<double> run_wide = nullptr;
  std::vector<std::int32_t> gather, scatter;  // Rader: g^q and g^-q mod n
  Aligned<T> chirp, spectrum;                 // planar: all re, then all im; spectrum has 1/L in it
  double bound = 0;                           // of the relative error, as Engine::bound()

  [[nodiscard]] std::int64_t shared_reals() const;   // scratch of a run without what each thread needs
  [[nodiscard]] std::int64_t private_reals() const;  // of each thread
};
// max_lanes: of the widest vector.
template <class T>
[[nodiscard]] std::shared_ptr<const LinePlan<T>> make_line_plan(std::int64_t n, int max_lanes);

// Everything an engine runs. `passes` serves lines in lanes (empty when n is not smooth), `line` single lines; complex_n is the length of the complex
// transforms inside: n, or n/2 for the real kinds with even n.
template <class T>
struct EnginePlan {
  EngineKind kind = EngineKind::Complex;
  std::int64_t n = 1, complex_n = 1;
  bool lanes = false;           // lines in lanes, else within lines
  bool lanes_if_strided = false;  // lines in lanes when neighbouring lines are closer than neighbouring points
  Passes<T> passes;
  std::shared_ptr<const LinePlan<T>> line;
  Aligned<T> real_twiddles;     // even real kinds: w_n^k, k = 0 .. n/4, all re, then all im
};

// A call: where line i begins on both sides is a mixed-radix number with digits in `batch`.
template <class T>
struct EngineCall {
  T *in_re, *in_im, *out_re, *out_im;
  std::int64_t in_stride, out_stride;
  const std::vector<LineBatch>* batch;
  std::int64_t lines;
  T factor;
};

// Defined once per precision and instruction set; the best is chosen when first called.
template <class T>
[[nodiscard]] int widest_lanes();
template <class T>
void run_lanes(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch);
template <class T>
void run_lines(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch, int threads);

}  // namespace trn::fft::host
