// Axes, lengths and norms of transforms as NumPy and SciPy state them, made into the description of a plan.
#pragma once

#include <trn/fft/plan_cache.hpp>
#include <trn/fft/transforms.hpp>

#include "call.hpp"

namespace trn::python {

// One public function: what it computes and what it is called in messages.
struct Transform {
  const char* name;
  fft::Kind kind;
  fft::Direction direction;
  bool several_axes;
};
// By the numbers that trnsci/fft.py uses: fft ifft rfft irfft hfft ihfft, then the same for several axes.
[[nodiscard]] const Transform& transform_number(int which);

struct Geometry {
  std::vector<std::size_t> axes;
  std::vector<std::int64_t> lengths;
  Shape input, output;  // both sides after padding and cutting
};

// Throws InvalidArgument for axes out of range or given twice and lengths below 1.
[[nodiscard]] Geometry geometry(const Transform& transform, const Shape& shape, nb::handle s, nb::handle axes);
[[nodiscard]] std::vector<std::size_t> axes_of(const char* name, std::size_t rank, nb::handle axes,
                                               const std::optional<std::vector<std::int64_t>>& s);
[[nodiscard]] fft::Norm norm_of(const char* name, nb::handle norm);
// `kind` may differ from the transform's: a real array is transformed as such.
[[nodiscard]] fft::Description describe(const Transform& transform, fft::Kind kind, const Geometry& geometry,
                                        const Strides& in, const Strides& out, fft::Norm norm, Precision precision);
// Plans of the process: the functions in the NumPy manner share them.
[[nodiscard]] fft::PlanCache& plan_cache();

}  // namespace trn::python
