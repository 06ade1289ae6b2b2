// trnsci.blas with precision="sr": results in float16, rounded stochastically, and the conversion to float16; and with
// precision="fp8_e4m3" and its like: products of float32 matrices in 8 or 4 bits.
#include <nanobind/stl/string.h>

#include <trn/blas/narrow.hpp>
#include <trn/blas/quantized_gemm.hpp>

#include "blas.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

constexpr Types kHalf = only(DType::Float16);

nb::object axpy(Factor alpha, nb::handle x, nb::handle y, std::uint64_t seed, std::uint64_t step, nb::handle executor) {
  Call call("blas.axpy", executor, {x, y});
  const Operand a = call.in(x, "x", kHalf | only(DType::Float32), 1), b = call.copy_of(y, "y", kHalf);
  check_rank(call, b, "y", 1);
  const auto f = factor<float>("blas.axpy", alpha);
  const Rounding rounding = Rounding::Stochastic{seed, step};
  call.run([&] {
    if (a.dtype == DType::Float16)
      blas::axpy(call.executor(), f, a.vector<const float16>(), b.vector<float16>(), rounding);
    else
      blas::axpy(call.executor(), f, a.vector<const float>(), b.vector<float16>(), rounding);
  });
  return call.result(b);
}

nb::object axpby(Factor alpha, nb::handle x, Factor beta, nb::handle y, bool stochastic, std::uint64_t seed,
                 std::uint64_t step, nb::handle executor) {
  Call call("blas.axpby", executor, {x, y});
  const Operand a = call.in(x, "x", kHalf | only(DType::Float32), 1), b = call.copy_of(y, "y", kHalf);
  check_rank(call, b, "y", 1);
  const auto f = factor<float>("blas.axpby", alpha), g = factor<float>("blas.axpby", beta);
  const Rounding rounding = stochastic ? Rounding(Rounding::Stochastic{seed, step}) : Rounding();
  call.run([&] {
    if (a.dtype == DType::Float16)
      blas::axpby(call.executor(), f, a.vector<const float16>(), g, b.vector<float16>(), rounding);
    else
      blas::axpby(call.executor(), f, a.vector<const float>(), g, b.vector<float16>(), rounding);
  });
  return call.result(b);
}

nb::object scal(Factor alpha, nb::handle x, std::uint64_t seed, std::uint64_t step, nb::handle executor) {
  Call call("blas.scal", executor, {x});
  const Operand a = call.copy_of(x, "x", kHalf);
  check_rank(call, a, "x", 1);
  const auto f = factor<float>("blas.scal", alpha);
  call.run([&] { blas::scal(call.executor(), f, a.vector<float16>(), Rounding::Stochastic{seed, step}); });
  return call.result(a);
}

nb::object gemm(Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle trans_a,
                nb::handle trans_b, std::uint64_t seed, std::uint64_t step, nb::handle executor, bool accuracy) {
  const char* const name = "blas.gemm";
  Call call(name, executor, {a, b, c});
  const Op op_a = op_of(name, trans_a), op_b = op_of(name, trans_b);
  const Operand A = call.in(a, "A", kHalf, 2), B = call.in(b, "B", kHalf, 2);
  const Operand C =
      updated(call, c, "C", DType::Float16, {A.shape[op_a == Op::N ? 0 : 1], B.shape[op_b == Op::N ? 1 : 0]});
  const auto f = factor<float>(name, alpha), g = c.is_none() ? 0.0f : factor<float>(name, beta);
  Accuracy bound;
  call.run([&] {
    bound = blas::gemm(call.executor(), op_a, op_b, f, A.matrix<const float16>(), B.matrix<const float16>(), g,
                       C.matrix<float16>(), Rounding::Stochastic{seed, step});
  });
  return answer(call, C, bound, accuracy);
}

nb::object quantized_gemm(Factor alpha, nb::handle a, nb::handle b, Factor beta, nb::handle c, nb::handle trans_a,
                          nb::handle trans_b, const std::string& mode, nb::handle executor, bool accuracy) {
  constexpr Types kFloat = only(DType::Float32);
  const char* const name = "blas.gemm";
  Call call(name, executor, {a, b, c});
  const Op op_a = op_of(name, trans_a), op_b = op_of(name, trans_b);
  const Operand A = call.in(a, "A", kFloat, 2), B = call.in(b, "B", kFloat, 2);
  const Operand C =
      updated(call, c, "C", DType::Float32, {A.shape[op_a == Op::N ? 0 : 1], B.shape[op_b == Op::N ? 1 : 0]});
  const auto f = factor<float>(name, alpha), g = c.is_none() ? 0.0f : factor<float>(name, beta);
  const blas::Quantized how = blas::parse_quantized(mode);
  blas::QuantizedAccuracy found;
  call.run([&] {
    found = blas::gemm(call.executor(), op_a, op_b, f, A.matrix<const float>(), B.matrix<const float>(), g,
                       C.matrix<float>(), how);
  });
  if (!accuracy) return call.result(C);
  return nb::make_tuple(call.result(C), found);
}

nb::object to_float16(nb::handle x, bool stochastic, std::uint64_t seed, std::uint64_t step, nb::handle executor) {
  Call call("blas.to_float16", executor, {x});
  const Operand from = call.copy_of(x, "x", only(DType::Float32)), to = call.out(DType::Float16, from.shape);
  const std::int64_t n = element_count(from.shape);
  const Rounding rounding = stochastic ? Rounding(Rounding::Stochastic{seed, step}) : Rounding();
  call.run([&] {
    blas::copy(call.executor(), VectorView<const float>(from.executor, from.pointer<const float>(), n, 1),
               VectorView<float16>(to.executor, to.pointer<float16>(), n, 1), rounding);
  });
  return call.result(to);
}

}  // namespace

void bind_narrow(nb::module_& m) {
  m.def("narrow_axpy", &axpy, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("narrow_axpby", &axpby, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("narrow_scal", &scal, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("narrow_gemm", &gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  nb::class_<blas::QuantizedAccuracy>(m, "QuantizedAccuracy")
      .def_prop_ro("mode", [](const blas::QuantizedAccuracy& a) { return std::string(name(a.mode)); })
      .def_ro("operands", &blas::QuantizedAccuracy::operands)
      .def_ro("bound", &blas::QuantizedAccuracy::bound)
      .def("__repr__", [](const blas::QuantizedAccuracy& a) {
        return fmt::format("QuantizedAccuracy(mode='{}', operands={:.3g}, bound={:.3g})", name(a.mode), a.operands,
                           a.bound);
      });
  m.def("quantized_gemm", &quantized_gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("to_float16", &to_float16, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace trn::python
