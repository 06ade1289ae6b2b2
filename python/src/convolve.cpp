// Convolution and correlation of arrays.
#include <nanobind/stl/string.h>

#include <trn/fft/convolve.hpp>

#include "bindings.hpp"
#include "geometry.hpp"

namespace trn::python {
namespace {

template <class E>
E word_of(const char* operation, const char* what, const std::string& given, std::initializer_list<const char*> words) {
  int number = 0;
  std::string known;
  for (const char* word : words) {
    if (given == word) return static_cast<E>(number);
    known += (number++ == 0 ? "" : ", ") + std::string(word);
  }
  fail<InvalidArgument>("{}: {} is '{}'; it must be one of {}", operation, what, given, known);
}

// `which`: fftconvolve, oaconvolve, convolve, correlate.
nb::object convolve(const std::string& which, nb::handle a, nb::handle b, const std::string& mode,
                    const std::string& method, nb::handle axes, nb::handle precision, nb::handle executor) {
  const std::string operation = "fft." + which;
  Call call(operation.c_str(), executor, {a, b});
  const DType type = call.common_type({a, b});
  const Operand x = call.in(a, "in1", only(type)), y = call.in(b, "in2", only(type));
  fft::ConvolveOptions o;
  o.mode = word_of<fft::ConvolveMode>(operation.c_str(), "mode", mode, {"full", "same", "valid"});
  o.method = word_of<fft::ConvolveMethod>(operation.c_str(), "method", method, {"auto", "direct", "fft"});
  o.axes = integers_of(axes, "axes must be an integer or a sequence of integers");
  o.precision = precision_of(precision);
  o.cache = &plan_cache();
  Operand z;
  with_scalar(type, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      const Executor& e = call.executor();
      const View<const T> u = x.view<const T>(), v = y.view<const T>();
      z = call.adopt(which == "correlate"     ? fft::correlate(e, u, v, o)
                     : which == "oaconvolve"  ? fft::oaconvolve(e, u, v, o)
                     : which == "fftconvolve" ? fft::fftconvolve(e, u, v, o)
                                              : fft::convolve(e, u, v, o));
    });
  });
  return call.result(z);
}

}  // namespace

void bind_convolve(nb::module_& m) {
  m.def("convolve", &convolve, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none(), nb::arg().none());
}

}  // namespace trn::python
