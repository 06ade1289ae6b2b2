// Functions beside plans in double precision: the transforms are plans in mode exact on the device; what surrounds
// them, which has no products for the Tensor Engine, is done on the host, where such plans split and join their doubles
// anyway.
#pragma once

#include "../elementwise.hpp"
#include "../stft.hpp"

namespace trn::fft::device {

// Add and Multiply; NotImplemented for others.
void exact_elementwise(const Executor& executor, const ElementwiseArgs& args);
void exact_stft(const Executor& executor, const StftArgs& args);
void exact_istft(const Executor& executor, const IstftArgs& args);

}  // namespace trn::fft::device
