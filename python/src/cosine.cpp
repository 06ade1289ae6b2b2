// Cosine and sine transforms, frequencies, shifts and fast lengths of trnsci.fft.
#include <nanobind/stl/optional.h>

#include <trn/fft/cosine.hpp>
#include <trn/fft/frequencies.hpp>

#include "context.hpp"
#include "geometry.hpp"

namespace trn::python {
namespace {

// By the numbers of trnsci/fft.py: dct idct dst idst, then the same for several axes.
fft::detail::CosineRequest cosine_number(int which) {
  using fft::detail::Wave, fft::Direction;
  static constexpr const char* kNames[] = {"fft.dct",  "fft.idct",  "fft.dst",  "fft.idst",
                                           "fft.dctn", "fft.idctn", "fft.dstn", "fft.idstn"};
  ensure(which >= 0 && which < 8, "fft: cosine transform number {}", which);
  return {kNames[which], which & 2 ? Wave::Sine : Wave::Cosine, which & 1 ? Direction::Inverse : Direction::Forward};
}

nb::object cosine(int which, nb::handle x, int type, nb::handle s, nb::handle axes, nb::handle norm,
                  std::optional<bool> orthogonalize, nb::handle precision, nb::handle executor) {
  const fft::detail::CosineRequest request = cosine_number(which);
  Call call(request.operation, executor, {x});
  const Operand in = call.in(x, "x", kReals);
  require(type >= 1 && type <= 4, "{}: Invalid transform type {}; it must be 1, 2, 3 or 4", request.operation, type);
  fft::CosineNOptions o{.type = static_cast<fft::CosineType>(type)};
  o.s = integers_of(s, "s must be an integer or a sequence of integers");
  const std::vector<std::size_t> which_axes = axes_of(request.operation, in.shape.size(), axes, o.s);
  o.axes.emplace(which_axes.begin(), which_axes.end());
  if (o.s) {
    for (std::size_t i = 0; i < o.s->size(); ++i) {
      std::int64_t& n = (*o.s)[i];
      if (which >= 4 && n == -1) n = in.shape[which_axes[i]];
      require(n >= 1, "{}: invalid number of data points ({}); there must be at least 1", request.operation, n);
    }
  }
  o.norm = norm_of(request.operation, norm);
  o.orthogonalize = orthogonalize;
  o.precision = precision_of(precision);
  o.cache = &plan_cache();
  Operand y;
  with_real(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { y = call.adopt(fft::detail::cosine<T>(call.executor(), in.view<const T>(), request, o)); });
  });
  return call.result(y);
}

nb::object shift(nb::handle x, nb::handle axes, bool inverse, nb::handle executor) {
  const char* const name = inverse ? "fft.ifftshift" : "fft.fftshift";
  Call call(name, executor, {x});
  const Operand in = call.in(x, "x", kFloats);
  fft::ShiftOptions o;
  o.axes = integers_of(axes, "axes must be an integer or a sequence of integers");
  Operand y;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { y = call.adopt(fft::detail::shift<T>(name, call.executor(), in.view<const T>(), o, inverse)); });
  });
  return call.result(y);
}

nb::object frequencies(std::int64_t n, double spacing, bool half, bool single, nb::handle executor) {
  const Call call(half ? "fft.rfftfreq" : "fft.fftfreq", executor, {});
  const Executor& e = call.executor();
  if (single)
    return call.result(call.adopt(half ? fft::rfftfreq<float>(e, n, spacing) : fft::fftfreq<float>(e, n, spacing)));
  return call.result(call.adopt(half ? fft::rfftfreq<double>(e, n, spacing) : fft::fftfreq<double>(e, n, spacing)));
}

}  // namespace

void bind_cosine(nb::module_& m) {
  m.def("cosine", &cosine, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("shift", &shift, nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("frequencies", &frequencies, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("next_fast_len", &fft::next_fast_len);
}

}  // namespace trn::python
