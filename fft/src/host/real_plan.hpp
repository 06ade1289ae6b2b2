// What the engines of real lines know before they run. Data only; the code that runs it (real_passes-inl.hpp,
// real_line-inl.hpp) is compiled once per instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "line_plan.hpp"

namespace trn::fft::host {

[[nodiscard]] double real_codelet_cost(std::int64_t n);  // of a codelet, or of a prime above 13

// A real transform over a block of rows (real_passes-inl.hpp): n = radix m, a codelet of real points and complex passes
// of m, which may be 1; or n = 2 m and radix 0, complex passes of m.
template <class T> struct RealPasses {
  std::int64_t n = 0;  // 0: none
  int radix = 1;
  Passes<T> inner;      // of m
  Aligned<T> twiddles;  // w_n^(qt), or conjugates from half to real: [m][t = 1 .. radix/2][2]; w_n^k/2, k = 0 .. m/2
  [[nodiscard]] std::int64_t scratch_rows() const {  // of as many reals as there are lanes
    return inner.n > 1 ? 2 * (radix / 2 + 3) * inner.n : 0;
  }
};
template <class T> [[nodiscard]] RealPasses<T> make_real_passes(EngineKind kind, std::int64_t n);
// An estimate of the operations on vectors, as passes_cost(); infinite if there are no such passes.
[[nodiscard]] double real_passes_cost(std::int64_t n);

// One real line, in one direction.
//   Codelet   one lane
//   Pairs     short even n, whole in registers (real_dense-inl.hpp)
//   Parted    n even: a complex line of n/2 points that needs no scratch, and a pass over the result
//     (real_dense-inl.hpp)
//   Prime     17 .. 61, a matrix and a vector (real_dense-inl.hpp)
//   Steps     n = n1 n2, n1 a codelet, n2 a product of them: real columns of n1, half of a complex transform of n2 rows
//     (real_steps-inl.hpp)
//   Columns   n = n1 n2 odd, in four steps: real columns of n1 in the lanes, twiddles, transposition, half of the
//     complex columns of n2 (real_split-inl.hpp)
//   Halved    n even: neighbours as one complex number, a complex line of n/2 points and a pass over the result
//   Split     n = n1 n2, n1 smooth: n1 real lines of n2 points, twiddles, half of the columns of n1
//     (real_split-inl.hpp)
//   Rader     n prime: a real cyclic convolution of n - 1 points, of that length if it is smooth, or padded
//     (real_line-inl.hpp)
//   Full      a complex line of n points
enum class RealKind : std::uint8_t { Codelet, Pairs, Parted, Prime, Steps, Columns, Halved, Split, Rader, Full };
template <class T> struct RealLine;
// The real side is at `real`, points real_stride apart; half_re, half_im, half_stride are the other side.
template <class T> struct RealSides {
  T* real;
  std::int64_t real_stride;
  T *half_re, *half_im;
  std::int64_t half_stride;
};
template <class T>
using OneRealLine = void (*)(const RealLine<T>& line, const RealSides<T>& sides, T factor, T* scratch, int threads);

// Dense lines one after the other, without scratch: Codelet, Pairs, Parted, Prime, Steps. Distances in reals.
template <class T> struct DenseRealCall {
  const T* table = nullptr;
  T factor = 1;
  std::int64_t lines = 1, in_distance = 0, out_distance = 0;
  WholeCall<T> complex =
      // Parted: of n/2 points, with the factor; Prime: n only; Steps: n, n1, the numbers in a row, the steps, there the
      // factor
      {};
  WholeRun<T> run_complex = nullptr;  // Parted
  RealColumns<T> columns = nullptr;   // Steps
};
// The function, and how many complex numbers its vectors have; null if there is none.
template <class T> struct DenseKernel {
  WholeRun<T> run = nullptr;
  int numbers = 0;
};
template <class T> struct DenseFunctions {
  WholeKernel<T> (*pairs)(std::int64_t n, bool there);  // n1 n2 = n/2
  WholeRun<T> (*codelet)(std::int64_t n, bool there);
  DenseKernel<T> (*parted)(bool there);
  DenseKernel<T> (*prime)(bool there);
};
template <class T> [[nodiscard]] const DenseFunctions<T>& dense_functions();

template <class T> struct RealLine {
  EngineKind direction = EngineKind::RealToHalf;
  RealKind kind = RealKind::Codelet;
  std::int64_t n = 1, n1 = 1,
               n2 = 1;  // n2 of Rader: the length of the convolution
  int lanes = 1;        // Columns, Split; the others: complex numbers in a vector
  double cost = 0;      // as LinePlan::cost
  double bound = 0;     // as Engine::bound()
  OneRealLine<T> run = nullptr;
  WholeRun<T> run_dense = nullptr;   // Codelet, Pairs, Parted, Prime, Steps: with a DenseRealCall
  RealColumns<T> columns = nullptr;  // Steps
  std::vector<Step<T>> steps;
  std::vector<int> radices;                    // of n2
  std::shared_ptr<const LinePlan<T>> complex;  // Parted, Halved, Full
  OneLine<T> run_complex = nullptr;
  RealPasses<T> columns_first;  // Columns: of n1
  Passes<T> first;              // Columns: of n2; Split: of n1
  // Pairs: real_dense-inl.hpp. Parted, Halved: w_n^k/(2i), or i/w_n^k back, [vector of k][re, re | -im, im]. Prime: cos
  // and -sin of 2 pi jk/n, twice that back, [j][vectors of k]. Steps: real_steps-inl.hpp. Columns: w_n^(j
  // k), [block of columns j][k <= n1/2][2][lanes]. Split: w_n^(j k), [j < n1][2][n2/2 + 1].
  Aligned<T> twiddles;
  std::shared_ptr<const RealLine> inner,
      back;  // Split: of n2, in this direction; Rader: of the convolution's length, there and back
  std::vector<std::int32_t> gather, scatter;  // Rader: g^-q and g^q mod n
  Aligned<T> spectrum;                        // Rader: points 0 .. n2/2, planar, with 1/n2 in it

  [[nodiscard]] DenseRealCall<T> dense_call(T factor, std::int64_t count, std::int64_t in_distance,
                                            std::int64_t out_distance) const {
    DenseRealCall<T> call{twiddles.data(), factor, count, in_distance, out_distance};
    call.complex.n = n;
    if (kind == RealKind::Parted) {
      call.complex = complex->whole_call(direction == EngineKind::HalfToReal, factor, 1, 0, 0);
      call.run_complex = complex->run_whole;
    }
    if (kind == RealKind::Steps) {
      const bool inverse = direction == EngineKind::HalfToReal;
      call.complex = {nullptr,
                      steps.data(),
                      static_cast<int>(steps.size()),
                      inverse ? T(-1) : T(1),
                      inverse ? T(1) : factor,
                      n,
                      1,
                      0,
                      0,
                      n1,
                      (n1 / 2 + lanes) / lanes * lanes};
      call.columns = columns;
    }
    return call;
  }
  [[nodiscard]] std::int64_t shared_reals() const;
  [[nodiscard]] std::int64_t private_reals() const;
};
template <class T>
[[nodiscard]] std::shared_ptr<const RealLine<T>> make_real_line(EngineKind direction, std::int64_t n, int max_lanes);

// The same without its tables and inner lines: what it would cost.
template <class T> [[nodiscard]] RealLine<T> choose_real_line(EngineKind direction, std::int64_t n, int max_lanes);

// Everything an engine of real lines runs: `passes` serves lines in lanes, `line` single lines.
template <class T> struct RealPlan {
  EngineKind kind = EngineKind::RealToHalf;
  std::int64_t n = 1;
  bool lanes = false;             // lines in lanes, else within lines
  bool lanes_if_strided = false;  // lines in lanes when neighbouring lines are closer than neighbouring points
  RealPasses<T> passes;
  std::shared_ptr<const RealLine<T>> line;
};

// The code of a line, lines in lanes, and boxes (boxes.hpp); the last two are null on a plain processor.
template <class T> struct BoxPlan;
template <class T> struct BoxCall;
template <class T> struct RealFunctions {
  OneRealLine<T> (*line)(const RealLine<T>& line);
  void (*run_lanes)(const RealPlan<T>& plan, const EngineCall<T>& call, std::int64_t begin, std::int64_t end,
                    T* scratch);
  void (*run_boxes)(const BoxPlan<T>& plan, const BoxCall<T>& call, std::int64_t begin, std::int64_t end, T* scratch);
};
template <class T> [[nodiscard]] const RealFunctions<T>& real_functions();
// Of a block of lines in lanes.
template <class T> [[nodiscard]] std::int64_t real_block_reals(const RealPlan<T>& plan, int lanes) {
  return round_up((plan.n + 2 + plan.passes.scratch_rows()) * lanes + 64 + 2 * plan.n + 64);
}

}  // namespace trn::fft::host
