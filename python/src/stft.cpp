// Short-time Fourier transforms and windows of trnsci.fft.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/fft/stft.hpp>

#include "bindings.hpp"
#include "geometry.hpp"

namespace trn::python {
namespace {

fft::StftOptions options_of(std::int64_t n_fft, std::int64_t hop, std::int64_t win_length,
                            const std::vector<double>& window, const std::string& boundary, bool unitary,
                            bool one_sided, nb::handle precision) {
  static constexpr std::string_view kBoundaries[] = {"none", "zeros", "reflect", "odd", "replicate", "circular"};
  fft::StftOptions o;
  o.n_fft = n_fft;
  if (hop > 0) o.hop = hop;
  if (win_length > 0) o.win_length = win_length;
  o.window = window;
  std::size_t which = 0;
  while (which < std::size(kBoundaries) && kBoundaries[which] != boundary) ++which;
  require(which < std::size(kBoundaries), "fft.stft: pad_mode '{}' is none of zeros, reflect, odd, replicate, circular",
          boundary);
  o.boundary = static_cast<fft::Boundary>(which);
  o.scaling = unitary ? fft::StftScaling::Unitary : fft::StftScaling::None;
  o.sides = one_sided ? fft::Sides::One : fft::Sides::Two;
  o.precision = precision_of(precision);
  o.cache = &plan_cache();
  return o;
}

nb::object stft(nb::handle x, std::int64_t n_fft, std::int64_t hop, std::int64_t win_length,
                const std::vector<double>& window, const std::string& boundary, bool unitary, bool one_sided,
                nb::handle precision, nb::handle executor) {
  Call call("fft.stft", executor, {x});
  const Operand in = call.in(x, "x", kFloats);
  const fft::StftOptions o = options_of(n_fft, hop, win_length, window, boundary, unitary, one_sided, precision);
  Operand y;
  with_scalar(in.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] { y = call.adopt(fft::detail::stft<T>(call.executor(), in.view<const T>(), o)); });
  });
  return call.result(y);
}

nb::object istft(nb::handle y, std::int64_t n_fft, std::int64_t hop, std::int64_t win_length,
                 const std::vector<double>& window, const std::string& boundary, bool unitary, bool one_sided,
                 bool complex, std::int64_t length, nb::handle precision, nb::handle executor) {
  Call call("fft.istft", executor, {y});
  const Operand in = call.in(y, "y", kComplexes);
  const fft::StftOptions o = options_of(n_fft, hop, win_length, window, boundary, unitary, one_sided, precision);
  fft::IstftOptions i;
  if (length >= 0) i.length = length;
  Operand x;
  with_real(in.dtype, [&](auto t) {
    using T = decltype(t);
    using C = std::complex<T>;
    call.run([&] {
      if (complex) {
        x = call.adopt(fft::detail::complex_istft<T>(call.executor(), in.view<const C>(), o, i));
      } else {
        x = call.adopt(fft::detail::istft<T>(call.executor(), in.view<const C>(), o, i));
      }
    });
  });
  return call.result(x);
}

std::vector<double> window(const std::string& kind, std::int64_t n, bool periodic, double beta) {
  for (int k = 0; k <= static_cast<int>(fft::WindowKind::Kaiser); ++k) {
    const auto which = static_cast<fft::WindowKind>(k);
    if (kind == fft::name(which))
      return fft::window(which, n, {periodic ? fft::WindowForm::Periodic : fft::WindowForm::Symmetric, beta});
  }
  fail<InvalidArgument>("fft.window: '{}' is none of boxcar, bartlett, hann, hamming, blackman, kaiser", kind);
}

}  // namespace

void bind_stft(nb::module_& m) {
  m.def("stft", &stft, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg().none());
  m.def("istft", &istft, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
  m.def("fft_window", &window);
}

}  // namespace trn::python
