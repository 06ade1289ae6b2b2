// The kernel of the cosine and sine transforms: lines along one axis.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/fft/cosine.hpp>

namespace trn::fft {

// Line b of the input has `given` points (the rest is zero) at strides of reals; the output is dense with the same
// order of batch dimensions.
struct CosineArgs {
  DType real;
  detail::Wave wave;
  CosineType type;
  bool orthogonalize;
  double factor;
  std::int64_t n, given;
  const void* in;
  void* out;
  std::int64_t in_stride, out_stride;
  Shape batch;
  Strides in_batch, out_batch;
  PlanCache* cache;
  Mode mode;  // of the products, as chosen for the whole call
};

// `count` lines of n points.
struct CosineBoundArgs {
  DType real;
  detail::Wave wave;
  CosineType type;
  std::int64_t n, count;
  Mode mode;
};

namespace host {
void cosine(const Executor& executor, const CosineArgs& args);
[[nodiscard]] double cosine_bound(const Executor& executor, const CosineBoundArgs& args);
}  // namespace host
namespace device {
void cosine(const Executor& executor, const CosineArgs& args);  // float32
[[nodiscard]] double cosine_bound(const Executor& executor, const CosineBoundArgs& args);
}  // namespace device

inline constexpr KernelTable<CosineArgs> kDct{"fft.dct", host::cosine, device::cosine};
inline constexpr KernelTable<CosineArgs> kDst{"fft.dst", host::cosine, device::cosine};
// The public header's bound.
inline constexpr KernelTable<CosineBoundArgs, double> kCosineBound{"fft.dct", host::cosine_bound, device::cosine_bound};

}  // namespace trn::fft
