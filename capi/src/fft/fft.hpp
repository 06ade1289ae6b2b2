// The bodies of cuFFT's routines: everything that capi/api/fft.api names.
#pragma once

#include <complex>
#include <map>
#include <optional>
#include <vector>

#include <trn/fft/plan.hpp>

#include <trnfft.h>

#include "../context.hpp"
#include "../memory.hpp"

namespace trn::capi::fft {

// A plan by its number. What it computes is set once; the C++ plans behind it are made for the directions and layouts
// that are asked for.
struct PlanObject : Context {
  PlanObject(Device& d, std::shared_ptr<StreamObject> s) : Context(&d, d.generation, std::move(s)) {}
  int number = 0;
  std::optional<Precision> precision;
  bool made = false;
  trnfftType type = TRNFFT_C2C;
  std::vector<std::int64_t> lengths;
  std::int64_t batch = 1;
  // The advanced layout; without it rows are dense.
  struct Layout {
    trn::fft::SideLayout in, out;
  };
  std::optional<Layout> layout;
  std::map<int, trn::fft::Plan<float>> narrow;  // by direction and padding
  std::map<int, trn::fft::Plan<double>> wide;
};
using Call = PlanObject;
std::shared_ptr<PlanObject> plan_of(trnfftHandle plan);
struct Face : Statuses<trnfftResult, 1, 4, 16, 2, 6, 5> {
  using Call = PlanObject;
  static auto find(trnfftHandle plan) { return plan_of(plan); }
};

template <class T> void exec_c2c(PlanObject& plan, std::complex<T>* in, std::complex<T>* out, int direction);
template <class T> void exec_r2c(PlanObject& plan, T* in, std::complex<T>* out);
template <class T> void exec_c2r(PlanObject& plan, std::complex<T>* in, T* out);

}  // namespace trn::capi::fft

#include "fft_bodies.hpp"

namespace trn::capi::fft {

// A new plan made at once; its number is given out only if that succeeds.
template <auto make, class... A> void plan(trnfftHandle* handle, A... arguments) {
  require(handle != nullptr, "plan is null; it receives the plan");
  trnfftHandle made = 0;
  create(&made);
  try {
    make(*plan_of(made), arguments..., nullptr);
  } catch (...) {
    destroy(*plan_of(made));
    throw;
  }
  *handle = made;
}
// What a plan would need: it is made and forgotten.
template <auto make, class... A> void get_size_of(const PlanObject& p, A... arguments) {
  constexpr auto missing = []<class V>(V value) {
    if constexpr (std::is_same_v<V, std::size_t*>) return value == nullptr;
    return false;
  };
  require(!(missing(arguments) || ...), "workSize is null; it receives the result");
  PlanObject draft(*p.device, p.stream);
  draft.precision = p.precision;
  make(draft, arguments...);
}
template <auto make, class... A> void estimate(A... arguments) {
  get_size_of<make>(PlanObject(current_device(), stream_of(nullptr)), arguments...);
}

}  // namespace trn::capi::fft
