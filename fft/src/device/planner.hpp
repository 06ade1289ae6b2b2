// From transforms of lines to programs: which kernel, which factors, and what lies in the workspace between two
// programs.
//
//   n <= 128                     Rows or Columns, whichever has the longer runs in memory
//   n = n1 n2, both <= 128       Blocks: one program, one trip through HBM
//   n = n1 m, n1 <= 128          Columns over the n1 points that lie m apart, times w^(k1 j2), into the workspace; then
//   n1 times as many
//                                lines of length m, whose results lie n1 apart: two trips up to 128^3 = 2^21 points
//   a prime factor above 128     Bluestein: times a chirp, two transforms of a smooth length >= 2 n - 1 with a product
//   between, times the
//                                chirp
#pragma once

#include <complex>
#include <memory>
#include <mutex>
#include <trn/core/array.hpp>
#include <trn/fft/points_program.hpp>
#include <trn/tile/launch.hpp>
#include <vector>

#include "../way.hpp"
#include "factors.hpp"

namespace trn::fft::device {

// An address of an execution: `offset` reals after one of its arrays.
struct Ref {
  enum class Of : std::uint8_t { InputRe, InputIm, OutputRe, OutputIm, Workspace };
  Of of = Of::Workspace;
  std::int64_t offset = 0;
  bool operator==(const Ref&) const = default;
};
// Lines in one of the arrays; `points` as in PointLayout.
struct Field {
  Ref re, im;
  PointLayout layout;
};

// The program of a step from the input to the output for executions in place: made when there is one.
class InPlace {
 public:
  InPlace(const Executor& executor, LinesShape shape) : executor_(executor), shape_(std::move(shape)) {
    shape_.in_place = true;
  }
  [[nodiscard]] const std::shared_ptr<const tile::Executable>& program() {
    std::call_once(once_, [&] { program_ = tile::load(executor_, lines_program, shape_); });
    return program_;
  }

 private:
  const Executor executor_;
  LinesShape shape_;
  std::once_flag once_;
  std::shared_ptr<const tile::Executable> program_;
};

// One program with the memory it is bound to.
struct Step {
  std::shared_ptr<const tile::Executable> program;
  std::shared_ptr<InPlace> in_place;  // where input and output may be one memory
  std::vector<std::pair<std::string, Ref>> refs;
  std::vector<std::pair<std::string, Buffer>> constants;
};

// What every Body of the device has.
class HasSteps {
 public:
  virtual ~HasSteps() = default;
  [[nodiscard]] virtual const std::vector<Step>& steps() const = 0;
};

class Planner {
 public:
  // BoundAlone: no programs and no constants, for choosing a mode.
  enum class Make : std::uint8_t { Everything, BoundAlone };
  Planner(const Executor& executor, Mode mode, Make make = Make::Everything)
      : executor_(executor), device_(tile::device_of(executor)), mode_(mode), make_(make) {}
  // Of the lines to come.
  void set_way(Way way) { way_ = way; }

  // Lines of `n` points from `in` to `out`: factor * sum of x_j exp(-+ 2 pi i jk/n). Both sides have n points; a real
  // side's partner may have n/2 + 1, the others being mirror images. A real input has imaginary part 0, of a real
  // output the imaginary part is dropped. Both may be the same memory with the same layout.
  void transform(const Field& in, const Field& out, std::vector<LineDim> lines, std::int64_t n, Direction direction,
                 long double factor);

  // A field of interleaved lines in the workspace, one behind the other as `lines` count them; sets the distances on
  // the given side.
  enum class As : std::uint8_t { Input, Output };
  Field workspace_lines(std::int64_t points, std::vector<LineDim>& lines, As as);
  // Workspace taken after mark() is free again after release().
  [[nodiscard]] std::int64_t mark() const { return top_; }
  void release(std::int64_t mark) { top_ = mark; }

  [[nodiscard]] std::vector<Step> take_steps() { return std::move(steps_); }
  [[nodiscard]] std::int64_t workspace_bytes() const { return peak_ * static_cast<std::int64_t>(sizeof(float)); }
  [[nodiscard]] double bound() const { return bound_; }

 private:
  void kernel(LineKernel which, std::int64_t n1, std::int64_t n2, const Field& in, const Field& out,
              std::vector<LineDim> lines, const ConstantOptions& options, bool odd = false);
  // The first step of lines of n1 m points, or of the first half of them (see columns.cpp), and the lines of m points
  // that remain: (lines, k1), from the workspace.
  struct Rest {
    Field from;
    std::vector<LineDim> lines;
  };
  Rest first_of_long(std::int64_t n1, const Field& in, const Field& out, const std::vector<LineDim>& lines,
                     std::int64_t n, Direction direction, bool half = false);
  void long_lines(std::int64_t n1, const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                  Direction direction, long double factor);
  // Lines that are one program of kernel Blocks; `odd` as in LinesShape.
  void blocks(const Field& in, const Field& out, std::vector<LineDim> lines, std::int64_t n,
              const ConstantOptions& options, bool odd = false);
  // The same by kernels RealColumns and Pairs, where they take these lines; false where they do not.
  bool long_pairs(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                  Direction direction, long double factor);
  bool long_pairs_in(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                     Direction direction, long double factor);
  // Half the results of a real line that takes several programs.
  void long_half(std::int64_t n1, const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                 Direction direction, long double factor);
  void half_to_real(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                    Direction direction, long double factor);
  // Results of which only the first points are wanted where no program leaves the others out: whole lines in the
  // workspace first.
  void cut_results(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                   Direction direction, long double factor);
  void bluestein(const Field& in, const Field& out, const std::vector<LineDim>& lines, std::int64_t n,
                 Direction direction, long double factor);
  // y_k = x_k t_k, or x_k without a table.
  void pointwise(const Field& in, const Field& out, const std::vector<LineDim>& lines,
                 const std::vector<std::complex<long double>>& table);
  [[nodiscard]] LineKernel short_kernel(const Field& in, const Field& out, const std::vector<LineDim>& lines) const;
  Ref take(std::int64_t reals);
  void add(const std::shared_ptr<const tile::Executable>& program, const Field& in, const Field& out,
           std::vector<Constant> constants);

  Executor executor_;
  tile::Device& device_;
  Mode mode_;
  Make make_;
  Way way_ = Way::Quickest;
  std::vector<Step> steps_;
  std::int64_t top_ = 0, peak_ = 0;
  double bound_ = 0;
};

// Bluestein's tables for n points: c_j, the length of the convolution, the transform of conj(c) wrapped to that length,
// and its largest magnitude.
struct Chirp {
  std::int64_t length = 0;
  std::vector<std::complex<long double>> chirp, spectrum;
  long double largest = 0;
};
// For `in` points that are not 0 and the first `out` results.
[[nodiscard]] Chirp make_chirp(std::int64_t n, Direction direction, std::int64_t limit, std::int64_t in,
                               std::int64_t out);

// No dimension of one line (but one dimension at least), largest distance first, neighbours that are one merged.
[[nodiscard]] std::vector<LineDim> merged_lines(std::vector<LineDim> lines);

}  // namespace trn::fft::device
