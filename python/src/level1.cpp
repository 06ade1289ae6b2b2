// trnsci.blas, level 1, and the words of all three levels.
#include <nanobind/stl/string.h>

#include <cctype>
#include <limits>

#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "blas.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

template <class E>
E word(const char* operation, const char* what, nb::handle given, const char* first, const char* second) {
  std::string text;
  if (nb::try_cast<std::string>(given, text, false) && !text.empty()) {
    std::string lower;
    for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (int i = 0; i < 2; ++i) {
      const std::string name = i ? second : first;
      if (lower == name || lower == name.substr(0, 1)) return static_cast<E>(i);
    }
  }
  fail<InvalidArgument>("{}: {} is {}; it must be '{}' or '{}'", operation, what, nb::repr(given).c_str(), first,
                        second);
}

}  // namespace

Op op_of(const char* operation, nb::handle given) {
  if (PyBool_Check(given.ptr())) return given.ptr() == Py_True ? Op::T : Op::N;
  std::string text;
  if (nb::try_cast<std::string>(given, text, false) && text.size() == 1) {
    switch (std::toupper(static_cast<unsigned char>(text[0]))) {
      case 'N':
        return Op::N;
      case 'T':
        return Op::T;
      case 'C':
        return Op::C;
      default:
        break;
    }
  }
  fail<InvalidArgument>("{}: trans is {}; it must be True, False, 'N', 'T' or 'C'", operation, nb::repr(given).c_str());
}
blas::Uplo uplo_of(const char* operation, nb::handle given) {
  return word<blas::Uplo>(operation, "uplo", given, "lower", "upper");
}
blas::Side side_of(const char* operation, nb::handle given) {
  return word<blas::Side>(operation, "side", given, "left", "right");
}
blas::Diag diag_of(const char* operation, nb::handle given) {
  return word<blas::Diag>(operation, "diag", given, "nonunit", "unit");
}

Operand updated(Call& call, nb::handle given, const char* name, DType dtype, const Shape& shape, bool triangle) {
  if (given.is_none()) return triangle ? call.zeros(dtype, shape) : call.out(dtype, shape);
  Operand o = call.copy_of(given, name, only(dtype));
  require(o.shape == shape, "{}: {} has shape {}; it must have {}", call.operation(), name, to_string(o.shape),
          to_string(shape));
  return o;
}

nb::object answer(const Call& call, const Operand& result, const Accuracy& accuracy, bool wanted) {
  nb::object object = call.result(result);
  if (!wanted) return object;
  return nb::make_tuple(object, accuracy);
}

namespace {

nb::object axpy(Factor alpha, nb::handle x, nb::handle y, nb::handle executor) {
  Call call("blas.axpy", executor, {x, y});
  const DType t = call.common_type({x, y});
  const Operand a = call.in(x, "x", only(t), 1);
  const Operand b = call.copy_of(y, "y", only(t));
  check_rank(call, b, "y", 1);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>("blas.axpy", alpha);
    call.run([&] { blas::axpy<T>(call.executor(), f, a.vector<const T>(), b.vector<T>()); });
  });
  return call.result(b);
}

nb::object scal(Factor alpha, nb::handle x, nb::handle executor) {
  Call call("blas.scal", executor, {x});
  const Operand a = call.copy_of(x, "x", kFloats);
  check_rank(call, a, "x", 1);
  with_scalar(a.dtype, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>("blas.scal", alpha);
    call.run([&] { blas::scal<T>(call.executor(), f, a.vector<T>()); });
  });
  return call.result(a);
}

template <class T> nb::object scalar(T value) {
  if constexpr (RealScalar<T>) {
    return nb::float_(static_cast<double>(value));
  } else {
    return nb::cast(Factor(value));
  }
}

nb::object dot(nb::handle x, nb::handle y, bool conjugate, nb::handle precision, nb::handle executor, bool accuracy) {
  Call call(conjugate ? "blas.dotc" : "blas.dot", executor, {x, y});
  const DType t = call.common_type({x, y});
  const Operand a = call.in(x, "x", only(t), 1), b = call.in(y, "y", only(t), 1);
  const Precision p = precision_of(precision);
  return with_scalar(t, [&](auto v) -> nb::object {
    using T = decltype(v);
    blas::Measured<T> result;
    call.run([&] {
      result = conjugate ? blas::detail::dotc<T>(call.executor(), a.vector<const T>(), b.vector<const T>(), p)
                         : blas::detail::dot<T>(call.executor(), a.vector<const T>(), b.vector<const T>(), p);
    });
    if (accuracy) return nb::make_tuple(scalar(result.value), result.accuracy);
    return scalar(result.value);
  });
}

nb::object norm(nb::handle x, bool sum, nb::handle precision, nb::handle executor, bool accuracy) {
  Call call(sum ? "blas.asum" : "blas.nrm2", executor, {x});
  const Operand a = call.in(x, "x", kFloats, 1);
  const Precision p = precision_of(precision);
  return with_scalar(a.dtype, [&](auto v) -> nb::object {
    using T = decltype(v);
    blas::Measured<Real<T>> result;
    call.run([&] {
      result = sum ? blas::detail::asum<T>(call.executor(), a.vector<const T>(), p)
                   : blas::detail::nrm2<T>(call.executor(), a.vector<const T>(), p);
    });
    if (accuracy) return nb::make_tuple(scalar(result.value), result.accuracy);
    return scalar(result.value);
  });
}

std::int64_t extreme(nb::handle x, bool largest, nb::handle executor) {
  Call call(largest ? "blas.iamax" : "blas.iamin", executor, {x});
  const Operand a = call.in(x, "x", kFloats, 1);
  return with_scalar(a.dtype, [&](auto v) {
    using T = decltype(v);
    std::int64_t i = -1;
    call.run([&] {
      i = largest ? blas::detail::amax<T>(call.executor(), a.vector<const T>())
                  : blas::detail::amin<T>(call.executor(), a.vector<const T>());
    });
    return i;
  });
}

nb::object rot(nb::handle x, nb::handle y, double c, Factor s, nb::handle executor) {
  Call call("blas.rot", executor, {x, y});
  const DType t = call.common_type({x, y});
  const Operand a = call.copy_of(x, "x", only(t)), b = call.copy_of(y, "y", only(t));
  check_rank(call, a, "x", 1);
  check_rank(call, b, "y", 1);
  with_scalar(t, [&](auto v) {
    using T = decltype(v);
    const T f = factor<T>("blas.rot", s);
    call.run([&] { blas::rot<T>(call.executor(), a.vector<T>(), b.vector<T>(), static_cast<Real<T>>(c), f); });
  });
  return nb::make_tuple(call.result(a), call.result(b));
}

nb::object rotg(Factor a, Factor b) {
  if (a.imag() == 0 && b.imag() == 0) {
    const auto r = blas::rotg<double>(a.real(), b.real());
    return nb::make_tuple(r.c, r.s, r.r, r.z);
  }
  const auto r = blas::rotg<Factor>(a, b);
  return nb::make_tuple(r.c, r.s, r.r, r.z);
}

}  // namespace

void bind_level1(nb::module_& m) {
  m.def("axpy", &axpy, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("scal", &scal, nb::arg(), nb::arg(), nb::arg().none());
  m.def("dot", &dot, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("norm", &norm, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("extreme", &extreme, nb::arg(), nb::arg(), nb::arg().none());
  m.def("rot", &rot, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("rotg", &rotg);
  bind_narrow(m);
}

}  // namespace trn::python
