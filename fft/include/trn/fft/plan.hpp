// Plan: one discrete Fourier transform, prepared. cuFFT: cufftPlan1d/2d/3d/Many, cufftExec*; FFTW: the guru interface.
//
//   y[k] = s * sum over j of x[j] exp(-+ 2 pi i (j1 k1/n1 + ... + jd kd/nd)),  s = 1, 1/N or 1/sqrt(N), N = n1 ... nd
//
// over any number of axes, for every point of any number of batch dimensions; each dimension has its own stride on
// either side. Any length from 1 up. Real transforms keep n/2 + 1 points of the last axis: RealToComplex writes them,
// ComplexToReal reads them and takes the rest from symmetry. Along a single axis the imaginary parts of the points that
// are their own mirror image are not used. Over several axes the part of the input that breaks the symmetry, possible
// in the planes k = 0 and k = n/2 of the last axis, cancels as in NumPy: up to rounding errors of its own size, and a
// NaN there spreads.
//
// A batch dimension of extent 0 makes a plan that does nothing. A plan is immutable, cheap to copy and safe to use from
// several threads. It holds its tables (twiddles, DFT matrices) on its executor and needs workspace_bytes() of scratch
// per execution: the caller's Buffer, or one made for the call. The input is left as it was, except in place. In place
// (same address on both sides) each complex side must have the layout of the other; for real transforms the layouts
// must describe the same bytes (FFTW's padded rows: a real row of n lies in 2 (n/2 + 1) reals).
//
// Accuracy: || y - exact ||_2 <= accuracy().bound * || exact ||_2 for the whole of one transform, barring over- and
// underflow, as for blas products: N max|x| must be finite, and the values that matter must be normal numbers in every
// word of the mode (above 1e-30 for Tf32x3 and Bf16x6, 1e-37 for Native float). For ComplexToReal over several axes ||
// exact || includes the part of the input that cancels.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/fft/types.hpp>

namespace trn::fft {

// One dimension: `extent` points (for a transformed axis its logical length n) and the strides between them in elements
// of the input's and the output's type; for the last axis of a real transform the complex side has extent n/2 + 1.
struct Dimension {
  std::int64_t extent = 1;
  std::int64_t input_stride = 1;
  std::int64_t output_stride = 1;
  bool operator==(const Dimension&) const = default;
};

struct Description {
  Kind kind = Kind::ComplexToComplex;
  Direction direction = Direction::Forward;
  std::vector<Dimension> axes;     // transformed, the real transforms' halved one last
  std::vector<Dimension> batch{};  // every combination is one transform; empty means one
  Scale scale = Scale::None;
  Precision precision = {};
  Format input_format = Format::Interleaved;  // of a complex side
  Format output_format = Format::Interleaved;
  bool operator==(const Description&) const = default;
};

// Row-major arrays on both sides: `batch` transforms of `lengths`, one behind the other. With `padded_real` the rows of
// a real side have the length of their complex partner, 2 (n/2 + 1), so that the transform works in place. cuFFT:
// cufftPlan1d, cufftPlan2d, cufftPlan3d.
struct DenseOptions {
  std::int64_t batch = 1;
  bool padded_real = false;
};
[[nodiscard]] Description dense(Kind kind, Direction direction, const std::vector<std::int64_t>& lengths,
                                DenseOptions options = {});

// cuFFT's advanced layout: element (i0, ..., i_{d-1}) of transform b at b * distance + ((i0 * embed1 + i1) * embed2 +
// ...) * stride, the first embed unused. Empty embed: the dense extents of that side. cuFFT: cufftPlanMany,
// cufftMakePlanMany64; FFTW: fftw_plan_many_dft.
struct SideLayout {
  std::vector<std::int64_t> embed{};
  std::int64_t stride = 1;
  std::int64_t distance = 0;  // 0: one transform behind the other
};
[[nodiscard]] Description many(Kind kind, Direction direction, const std::vector<std::int64_t>& lengths,
                               const SideLayout& input, const SideLayout& output, std::int64_t batch);

namespace detail {
struct PlanState;
}

template <Real T> class Plan {
 public:
  // Throws InvalidArgument for lengths < 1, no axes, overlapping outputs, sizes that overflow, axes longer than 2^36,
  // wrong format on a real side, a target that no mode of the executor reaches; NotImplemented for a precision that the
  // executor does not offer.
  Plan(const Executor& executor, const Description& description);

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] const Description& description() const;
  [[nodiscard]] std::int64_t workspace_bytes() const;
  [[nodiscard]] Accuracy accuracy() const;

  // The views give address, executor and bounds; the layout is the plan's. A view that does not hold every element the
  // plan touches is refused, as is one of another executor, an overlap other than in place, and a workspace that is too
  // small.
  using C = std::complex<T>;
  void execute(const View<const C>& in, const View<C>& out) const;
  void execute(const View<const C>& in, const View<C>& out, const Buffer& workspace) const;
  void execute(const View<const T>& in, const View<C>& out) const;
  void execute(const View<const T>& in, const View<C>& out, const Buffer& workspace) const;
  void execute(const View<const C>& in, const View<T>& out) const;
  void execute(const View<const C>& in, const View<T>& out, const Buffer& workspace) const;
  // Planar sides.
  void execute(const PlanarView<const T>& in, const PlanarView<T>& out) const;
  void execute(const PlanarView<const T>& in, const PlanarView<T>& out, const Buffer& workspace) const;
  void execute(const View<const T>& in, const PlanarView<T>& out) const;
  void execute(const View<const T>& in, const PlanarView<T>& out, const Buffer& workspace) const;
  void execute(const PlanarView<const T>& in, const View<T>& out) const;
  void execute(const PlanarView<const T>& in, const View<T>& out, const Buffer& workspace) const;

  // The same for addresses of element (0, 0, ...) in the executor's memory, like cufftExecC2C and fftw_execute_dft: the
  // shortest way in. Checked are the plan's kind and formats, null addresses, and that a plan called in place describes
  // the same bytes on both sides. Not checked, and the caller's duty: that all elements which the plan touches are
  // there, that the sides do not overlap otherwise, and that `workspace` has workspace_bytes() bytes at a multiple of
  // 64, apart from both; if it is null, memory is found for the call.
  void execute(const C* in, C* out, void* workspace = nullptr) const;
  void execute(const T* in, C* out, void* workspace = nullptr) const;
  void execute(const C* in, T* out, void* workspace = nullptr) const;
  void execute(PlanarPointer<const T> in, PlanarPointer<T> out, void* workspace = nullptr) const;
  void execute(const T* in, PlanarPointer<T> out, void* workspace = nullptr) const;
  void execute(PlanarPointer<const T> in, T* out, void* workspace = nullptr) const;

 private:
  Executor executor_;
  std::shared_ptr<const detail::PlanState> state_;
};

}  // namespace trn::fft
