// Multigrid in progressive precision: A x = b by cycles whose products are of bfloat16 or tfloat32 numbers as long as
// that is enough, of float and at last of double, around residuals that end in twice the precision of double.
//
//   r = b - A x,   x = x + cycle(r)
//
// A cycle has to find a few bits of the error, so its numbers may be narrow. Matrices of the levels (Amg's, computed in
// double) and the operands of every product are rounded to a stage's words, products are summed in float; what is
// rounded is always a correction, and the residual within a cycle is of the corrections as rounded. A stage is left for
// the next when its cycle left more than `slow` of the residual; a cycle that made it larger is taken back.
//
// The residual r is computed in double while it is 16 times what roundings may make of it, and then summed in twice
// that precision. From there on the size of corrections measures progress, and they end where they no longer change x:
// as long as cycles contract, x is within a few units in the last place of the solution, whatever the condition. The
// inverse of the last level stays in double.
//
// `executor` runs the products of cycles in words up to float: a device multiplies bfloat16 and tfloat32 as such.
// Everything else, cycles in double too, is on the host.
#pragma once

#include <trn/sparse/amg.hpp>

namespace trn::sparse {

enum class CycleWords : std::uint8_t { Bf16, Tf32, Float, Double };
[[nodiscard]] std::string_view name(CycleWords words);

// Words of the finest level and of all others.
struct CycleStage {
  CycleWords finest = CycleWords::Double, coarser = CycleWords::Double;
  friend bool operator==(const CycleStage&, const CycleStage&) = default;
};

struct ProgressiveOptions {
  double tolerance = 0;  // ||b - A x|| <= tolerance ||b||, 2-norms; 0: until cycles of the last stage change nothing
  int most_cycles = 100;
  double slow = 0.75;  // a cycle that leaves more of the residual ends its stage
  std::vector<CycleStage> stages = {{CycleWords::Bf16, CycleWords::Bf16},
                                    {CycleWords::Tf32, CycleWords::Bf16},
                                    {CycleWords::Tf32, CycleWords::Tf32},
                                    {CycleWords::Float, CycleWords::Float},
                                    {CycleWords::Double, CycleWords::Double}};
};

struct CycleReport {
  CycleStage stage;
  bool wide = false;    // the residual was summed in twice the precision of double
  double residual = 0;  // ||b - A x|| / ||b|| before the cycle
  double error = 0;     // estimate of ||x - A^-1 b|| / ||x|| before the cycle: the size of the correction
  bool kept = true;     // false: the residual grew, and the correction was taken back
  double bytes = 0;     // of matrices and vectors that the cycle's products read and write, in its words
};

struct ProgressiveResult {
  Outcome outcome;
  bool converged = false;  // the tolerance is kept; with tolerance 0: the last stage has no more to give
  double residual = 0;     // ||b - A x|| / ||b|| after the last cycle, summed in twice the precision
  std::vector<CycleReport> cycles;
};

class ProgressiveAmg {
 public:
  // The levels of `amg`, which has computed them for A.
  explicit ProgressiveAmg(const Amg<double>& amg, const ProgressiveOptions& options = {},
                          const Executor& executor = Executor::host());
  [[nodiscard]] std::int64_t rows() const;
  // From the x given. b and x on the host, without overlap. One thread at a time.
  ProgressiveResult solve(const VectorView<const double>& b, const VectorView<double>& x) const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace trn::sparse
