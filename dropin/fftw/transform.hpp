// A problem made ready to run on the executor of the environment: what fftw_plan points to.
//
// On the host a complex or real transform is one trnfft plan on the caller's own memory. Three things are staged, that
// is, gathered to dense memory, transformed there and scattered: transforms in place whose two sides do not lie in the
// same bytes, everything on a device, and the real-to-real kinds, which go axis by axis: cosine and sine transforms by
// trnfft's functions, halfcomplex and Hartley by real transforms of the lines.
#pragma once

#include <optional>

#include <trn/fft/plan.hpp>
#include <trn/fft/plan_cache.hpp>

#include "../environment.hpp"
#include "problem.hpp"

namespace trn::dropin {

// Addresses of element 0. A real side has `im` null; an interleaved side has its pairs at `re`, and `im` null.
template <class T> struct Sides { T *re_in, *im_in, *re_out, *im_out; };

template <class T> class Transform {
 public:
  // Throws what trnfft throws for a layout or a length that it refuses.
  Transform(Problem problem, int threads);

  void run(const Sides<T>& sides) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  // Not null where run() is this plan's execute() on interleaved sides.
  [[nodiscard]] const fft::Plan<T>* plain() const {
    const bool is_plain = plan_ && !staged_ && !problem_.split;
    return is_plain ? &*plan_ : nullptr;
  }
  [[nodiscard]] bool on_host() const { return on_host_; }
  // 5 N log2 N for complex transforms, half of it for real ones, times their number: FFTW's own measure of work.
  [[nodiscard]] double work() const;

 private:
  using C = std::complex<T>;
  void run_dense(const Sides<T>& sides) const;
  void run_real(const Sides<T>& sides) const;

  Problem problem_;
  int threads_;
  bool on_host_ = true;
  std::optional<fft::Plan<T>> plan_;  // on the caller's memory, or on dense memory
  bool staged_ = false;
  std::vector<std::optional<fft::Plan<T>>> lines_;  // R2R: of the axes that are real transforms
  mutable fft::PlanCache cosines_;
};

}  // namespace trn::dropin
