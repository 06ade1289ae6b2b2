// x(i) = x(i) t(i): the twiddles between the two steps of a distributed 1-D transform.
#pragma once

#include <trn/core/array.hpp>
#include <trn/core/dispatch.hpp>

namespace trn::fft {

struct TwiddleArgs {
  DType real;
  void* data;  // pairs of reals, in place
  std::int64_t count;
  const Buffer* table;  // the same number of pairs; doubles of a device's transform in the host's memory
};
namespace host {
void twiddle(const Executor& executor, const TwiddleArgs& args);
}
namespace device {
// Doubles, which are a matter of mode exact, are multiplied by the host, in long double, as it takes part at both ends
// of every step there.
void twiddle(const Executor& executor, const TwiddleArgs& args);
}  // namespace device
inline constexpr KernelTable<TwiddleArgs> kTwiddle{"fft.twiddle", host::twiddle, device::twiddle};

}  // namespace trn::fft
