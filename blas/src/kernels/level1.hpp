// The kernels of level 1, both families. Vectors arrive as the address of element 0 and a signed stride in elements; n
// >= 1 (the entry points return before an empty call) and strides of written vectors are not 0. Scalars are wide enough
// for every type. Results of reductions go to host memory.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/core/precision.hpp>

namespace trn::blas {

// y = alpha x + y, alpha not 0; copy: y = x (alpha unused).
struct AxpyArgs {
  DType dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  std::complex<double> alpha = 1;
};

struct SwapArgs {
  DType dtype;
  std::int64_t n;
  void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
};

// x = alpha x. With real_alpha (csscal) the imaginary part of alpha does not exist: 0 * infinity does not arise from
// it.
struct ScalArgs {
  DType dtype;
  std::int64_t n;
  void* x;
  std::int64_t incx;
  std::complex<double> alpha;
  bool real_alpha = false;
};

// x_i, y_i = c x_i + s y_i, c y_i - conj(s) x_i. With real_s (srot, drot, csrot, zdrot) s is a real number.
struct RotArgs {
  DType dtype;
  std::int64_t n;
  void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  double c;
  std::complex<double> s;
  bool real_s = true;
};

// The modified rotation, real types; flag says which entries of H are implied (rotations.hpp). flag -2 does not get
// here.
struct RotmArgs {
  DType dtype;
  std::int64_t n;
  void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  double flag, h11, h21, h12, h22;
};

// amax, amin: *result = number of the first element of largest or smallest |re| + |im|.
struct ExtremeArgs {
  DType dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  std::int64_t* result;
};

// asum, nrm2. mode is Native or Exact.
struct NormArgs {
  DType dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  Mode mode;
  double* result;  // of the vector's own real type, widened
};

// sum x_i y_i, or sum conj(x_i) y_i. mode is Native or Exact.
struct DotArgs {
  DType dtype;
  std::int64_t n;
  const void* x;
  std::int64_t incx;
  const void* y;
  std::int64_t incy;
  bool conj;
  Mode mode;
  std::complex<double>* result;  // of the vectors' own type, widened
};

namespace host {
void axpy(const Executor& executor, const AxpyArgs& args);
void copy(const Executor& executor, const AxpyArgs& args);
void swap(const Executor& executor, const SwapArgs& args);
void scal(const Executor& executor, const ScalArgs& args);
void rot(const Executor& executor, const RotArgs& args);
void rotm(const Executor& executor, const RotmArgs& args);
void amax(const Executor& executor, const ExtremeArgs& args);
void amin(const Executor& executor, const ExtremeArgs& args);
void asum(const Executor& executor, const NormArgs& args);
void nrm2(const Executor& executor, const NormArgs& args);
void dot(const Executor& executor, const DotArgs& args);
}  // namespace host
namespace device {
void axpy(const Executor& executor, const AxpyArgs& args);
void copy(const Executor& executor, const AxpyArgs& args);
void swap(const Executor& executor, const SwapArgs& args);
void scal(const Executor& executor, const ScalArgs& args);
void rot(const Executor& executor, const RotArgs& args);
void rotm(const Executor& executor, const RotmArgs& args);
void amax(const Executor& executor, const ExtremeArgs& args);
void amin(const Executor& executor, const ExtremeArgs& args);
void asum(const Executor& executor, const NormArgs& args);
void nrm2(const Executor& executor, const NormArgs& args);
void dot(const Executor& executor, const DotArgs& args);
}  // namespace device

inline constexpr KernelTable<AxpyArgs> kAxpy{"blas.axpy", host::axpy, device::axpy};
inline constexpr KernelTable<AxpyArgs> kCopy{"blas.copy", host::copy, device::copy};
inline constexpr KernelTable<SwapArgs> kSwap{"blas.swap", host::swap, device::swap};
inline constexpr KernelTable<ScalArgs> kScal{"blas.scal", host::scal, device::scal};
inline constexpr KernelTable<RotArgs> kRot{"blas.rot", host::rot, device::rot};
inline constexpr KernelTable<RotmArgs> kRotm{"blas.rotm", host::rotm, device::rotm};
inline constexpr KernelTable<ExtremeArgs> kAmax{"blas.amax", host::amax, device::amax};
inline constexpr KernelTable<ExtremeArgs> kAmin{"blas.amin", host::amin, device::amin};
inline constexpr KernelTable<NormArgs> kAsum{"blas.asum", host::asum, device::asum};
inline constexpr KernelTable<NormArgs> kNrm2{"blas.nrm2", host::nrm2, device::nrm2};
inline constexpr KernelTable<DotArgs> kDot{"blas.dot", host::dot, device::dot};

}  // namespace trn::blas
