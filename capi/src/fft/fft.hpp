// The bodies of cuFFT's routines: everything that capi/api/fft.api names.
#pragma once

#include <complex>

#include <trn/fft/plan.hpp>

#include <trnfft.h>

#include "../call.hpp"
#include "../memory.hpp"

namespace trn::capi::fft {

inline constexpr StatusCodes kCodes{1, 4, 16, 2, 6, 5};

// A plan by its number. What it computes is set once; the C++ plans behind it are made for the directions and layouts
// that are asked for.
struct PlanObject;
using Call = PlanObject;
std::shared_ptr<PlanObject> plan_of(trnfftHandle plan);
StreamObject& stream_of_plan(PlanObject& plan);

template <class F> trnfftResult call(trnfftHandle plan, const char* function, const F& body) noexcept {
  return static_cast<trnfftResult>(guarded(function, kCodes, [&] {
    const auto alive = plan_of(plan);
    run(stream_of_plan(*alive), [&] { body(*alive); });
  }));
}
template <class F> trnfftResult call(const char* function, const F& body) noexcept {
  return static_cast<trnfftResult>(guarded(function, kCodes, body));
}

template <class T> void exec_c2c(PlanObject& plan, std::complex<T>* in, std::complex<T>* out, int direction);
template <class T> void exec_r2c(PlanObject& plan, T* in, std::complex<T>* out);
template <class T> void exec_c2r(PlanObject& plan, std::complex<T>* in, T* out);

}  // namespace trn::capi::fft

#include "fft_bodies.hpp"
