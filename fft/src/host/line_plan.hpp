// What the 1-D engines know before they run: passes, twiddles, splits. Data only; the code that runs it is compiled
// once per instruction set.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "lines.hpp"

namespace trn::fft::host {

template <class T> struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U> CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};
template <class T> using Aligned = std::vector<T, CacheLineAllocator<T>>;

// A transform of smooth length n as passes over a block of n rows, one row of re and one of im vectors per point, each
// lane its own transform. Stockham's ordering: with l the product of the radices done, r this one, n = l r m,
//   y[(q r + t) l + s] = w_(rm)^(qt) sum_p x[(p m + q) l + s] w_r^(pt),   q < m, s < l, t < r.
// Input and output are both in natural order, and the last pass (m = 1) can work in place.
template <class T> struct Passes {
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
template <class T> [[nodiscard]] Passes<T> make_passes(std::int64_t n);

// The DFT of the kernel of a convolution, divided by its length and by what its two transforms stretch (stretch()), as
// all real parts, then all imaginary parts.
template <class T>
[[nodiscard]] Aligned<T> kernel_spectrum(const std::vector<std::complex<long double>>& kernel, double stretches);

// Scratch is given out in multiples of a cache line.
constexpr std::int64_t round_up(std::int64_t reals) { return (reals + 15) / 16 * 16; }

// Interleaved lines that are transformed one after the other without other scratch than the stack: whole in registers
// (whole_line-inl.hpp), or in a few steps (steps-inl.hpp). All that such a call needs besides its two addresses.
template <class T> struct Step;
template <class T> struct WholeCall {
  const T* table = nullptr;        // Whole
  const Step<T>* steps = nullptr;  // Steps
  int step_count = 0;
  T turn = 1;  // 1 forward, -1 inverse
  T factor = 1;
  std::int64_t n = 1, lines = 1, in_distance = 0, out_distance = 0;  // distances in reals
  std::int64_t radix = 1, row = 0;                                   // real lines in steps (real_plan.hpp)
};
template <class T> using WholeRun = void (*)(const void* call, const void* in, void* out);

// The function for a length and how it cuts it: n1 rows of n2 numbers in vectors of `numbers`, or n1 lines of the prime
// n2. Null: there is none.
template <class T> struct WholeKernel {
  WholeRun<T> run = nullptr;
  int n1 = 1, n2 = 1, numbers = 1, prime = 0;
  double cost = 0;  // estimated, in operations of 32-byte vectors
};
inline constexpr std::int64_t kLongestWhole = 128, kLongestSteps = 4096;

// One pass of a line in steps.
enum class StepPlace : std::uint8_t { First, Middle, Last };
template <class T> using StepKernel = void (*)(const Step<T>& step, const WholeCall<T>& call, const T* in, T* out);
template <class T> struct Step {
  StepKernel<T> run = nullptr;
  std::int64_t l = 1, m = 1;
  const T* table[2] = {nullptr, nullptr};  // forward, inverse
};

// A line in three passes (steps-inl.hpp): columns of r, r lines of m, woven into one. `pitch` reals from line to line
// of the middle.
template <class T> struct Woven {
  std::int64_t r = 1, m = 1, pitch = 0;
  const T* table = nullptr;
};
template <class T> using WovenColumns = void (*)(const Woven<T>& line, bool inverse, const T* in, T* middle,
                                                 std::int64_t begin, std::int64_t end);
template <class T>
using WeaveLines = void (*)(const Woven<T>& line, const T* middle, T* out, std::int64_t begin, std::int64_t end);

// One line, SIMD within it.
//   Whole      short, in registers
//   Steps      up to kLongestSteps, a codelet on interleaved vectors in each pass
//   Woven      n = n1 n2, n1 a codelet: columns of n1 on interleaved vectors, n1 lines of n2 that are Whole, Steps or
//     Woven, and a transposition
//   Scalar     passes with one lane
//   FourStep   n = n1 n2: columns of n1 with `lanes` neighbouring columns in the lanes, twiddles, transposition of
//     blocks, columns of n2
//   Split      n = n1 n2, n1 smooth: n1 lines of n2 = any length, twiddles, columns of n1
//   Rader      n prime, n - 1 smooth: a cyclic convolution of length n - 1
//   Bluestein  any n: a convolution of smooth length >= 2 n - 1
//   Wide       float only: long convolutions in double, since two long transforms in a row leave float's error too
//     large
enum class LineKind : std::uint8_t { Whole, Steps, Woven, Scalar, FourStep, Split, Rader, Bluestein, Wide };
template <class T> struct LinePlan;
// A complex line by itself: the shortest way in.
template <class T> using OneLine = void (*)(const LinePlan<T>& plan, T* in_re, T* in_im, std::int64_t in_stride,
                                            T* out_re, T* out_im, std::int64_t out_stride, T factor, T* scratch,
                                            int threads);

template <class T> struct LinePlan {
  LineKind kind = LineKind::Scalar;
  std::int64_t n = 1, n1 = 1, n2 = 1;
  int lanes = 1;                    // of the columns of n1
  double cost = 0;                  // estimated, in operations of the widest vectors
  WholeRun<T> run_whole = nullptr;  // Whole, Steps
  std::vector<Step<T>> steps;
  WovenColumns<T> run_columns = nullptr;  // Woven
  Passes<T> first, second;
  // Whole: of both directions, one behind the other. FourStep: w_n^(j k), block by block of columns j: [block][k <
  // n1][2][lanes]; or, if factored, of the first block w_n^(j k) - 1, and for each block the number w_n^(j0 k) as the
  // sum of two complex ones, [block][k][2][2]. Split: w_n^(j k), [j < n1][2][n2]. Woven: steps-inl.hpp.
  Aligned<T> twiddles, block_twiddles;
  std::shared_ptr<const LinePlan> inner;
  std::shared_ptr<const LinePlan<double>> wide;
  OneLine<double> run_wide = nullptr;
  std::vector<std::int32_t> gather, scatter;  // Rader: g^q and g^-q mod n
  Aligned<T> chirp, spectrum;                 // planar: all re, then all im; spectrum has 1/L in it
  double bound = 0;                           // of the relative error, as Engine::bound()

  // Of Whole and Steps: `lines` interleaved lines, so many reals apart.
  [[nodiscard]] bool is_whole() const { return kind == LineKind::Whole || kind == LineKind::Steps; }
  [[nodiscard]] WholeCall<T> whole_call(bool inverse, T factor, std::int64_t lines, std::int64_t in_distance,
                                        std::int64_t out_distance) const {
    return {twiddles.data() + (inverse ? twiddles.size() / 2 : 0),
            steps.data(),
            static_cast<int>(steps.size()),
            inverse ? T(-1) : T(1),
            factor,
            n,
            lines,
            in_distance,
            out_distance};
  }

  [[nodiscard]] Woven<T> woven() const { return {n1, n2, round_up(2 * n2) + 16, twiddles.data()}; }
  [[nodiscard]] std::int64_t shared_reals() const;   // scratch of a run without what each thread needs
  [[nodiscard]] std::int64_t private_reals() const;  // of each thread
};
// The part of the results' relative error that is the same for every input, the constants being rounded: the results
// are 1 + stretch times too long.
template <class T> [[nodiscard]] double stretch(const LinePlan<T>& plan);
// max_lanes: of the widest vector.
template <class T> [[nodiscard]] std::shared_ptr<const LinePlan<T>> make_line_plan(std::int64_t n, int max_lanes);

// Everything an engine of complex lines runs (of real ones: real_plan.hpp). `passes` serves lines in lanes (empty when
// n is not smooth), `line` single lines.
template <class T> struct EnginePlan {
  std::int64_t n = 1;
  bool lanes = false;  // lines in lanes, else within lines
  bool lanes_if_strided =
      false;          // lines in lanes when neighbouring lines are closer than neighbouring points, or planar
  bool wide = false;  // scratch has room for columns in groups (columns-inl.hpp)
  Passes<T> passes;
  std::shared_ptr<const LinePlan<T>> line;
};

// A call: where line i begins on both sides is a mixed-radix number with digits in `batch`.
template <class T> struct EngineCall {
  T *in_re, *in_im, *out_re, *out_im;
  std::int64_t in_stride, out_stride;
  const std::vector<LineBatch>* batch;
  std::int64_t lines;
  T factor;
};
template <class T> [[nodiscard]] EngineCall<T> engine_call(const Lines& in, const Lines& out,
                                                           const std::vector<LineBatch>& batch, double factor) {
  const auto part = [](void* p) { return static_cast<T*>(p); };
  return {part(in.re), part(in.im), part(out.re),      part(out.im),          in.stride,
          out.stride,  &batch,      line_count(batch), static_cast<T>(factor)};
}

// Interleaved columns of a codelet's length, prepared to be one call.
template <class T> struct ColumnsCall {
  int radix = 2;
  std::int64_t in_stride = 2, out_stride = 2;
  bool inverse = false;
  T factor = 1;
  std::int64_t lines = 1;
  std::vector<LineBatch> batch;
};

// Compiled once for each precision and instruction set; the best is chosen when first called.
template <class T> struct LineFunctions {
  int lanes;            // of the widest vectors
  WholeRun<T> columns;  // of a ColumnsCall
  void (*run_lanes)(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end,
                    T* scratch);
  void (*run_lines)(const EnginePlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end,
                    T* scratch, int threads);
  OneLine<T> one_line;
};
template <class T> [[nodiscard]] const LineFunctions<T>& line_functions();
template <class T> [[nodiscard]] int widest_lanes() { return line_functions<T>().lanes; }

// Null, or no numbers in a vector: there is none. Steps of real lines: real_plan.hpp.
template <class T> struct DenseRealCall;
template <class T> using RealColumns = void (*)(const DenseRealCall<T>& call, const T* in, T* out);
enum class HalfRows : std::uint8_t { Out, In, Middle, Last };
template <class T> struct StepFunctions {
  WholeKernel<T> (*whole)(std::int64_t n);
  StepKernel<T> (*step)(std::int64_t radix, StepPlace place);
  int numbers;  // in a vector
  WholeRun<T> run;
  WovenColumns<T> (*woven_columns)(std::int64_t radix);
  WeaveLines<T> weave;
  // The real columns, and the passes over rows: the last one there, the first one back, those between, and the last one
  // back. Narrow: vectors of 32 bytes.
  RealColumns<T> (*real_columns)(int radix, bool there, bool narrow);
  StepKernel<T> (*half_rows)(int radix, HalfRows place, bool narrow);
  WholeRun<T> (*run_real)(bool there);
};
template <class T> [[nodiscard]] const StepFunctions<T>& step_functions();

}  // namespace trn::fft::host
