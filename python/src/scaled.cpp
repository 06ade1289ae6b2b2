// trnsci.blas with narrow numbers: 8-bit floats with scales and their products, microscaling (MX) matrices and theirs.
// NumPy has no such types: codes are uint8, and the format is a word.
#include <nanobind/stl/string.h>

#include <algorithm>

#include <trn/blas/mx.hpp>
#include <trn/blas/quantize.hpp>

#include "bindings.hpp"
#include "blas.hpp"

namespace trn::python {
namespace {

constexpr Types kBytes = only(DType::UInt8), kSingle = only(DType::Float32);

DType float8(const char* operation, const std::string& format) {
  for (const DType t : {DType::Float8E4M3, DType::Float8E5M2, DType::Float8E4M3FN}) {
    if (format == name(t)) return t;
  }
  fail<InvalidArgument>("{}: format is '{}'; it must be float8_e4m3, float8_e5m2 or float8_e4m3fn", operation, format);
}

// What a product may be stored as.
DType stored(const char* operation, const std::string& type) {
  require(type == "float32" || type == "float16", "{}: dtype is '{}'; it must be float32 or float16", operation, type);
  return type == "float32" ? DType::Float32 : DType::Float16;
}

blas::TypedMatrix typed(const Operand& o, DType type) {
  return {o.executor, type, o.data, o.shape[0], o.shape[1], o.strides[0], o.strides[1]};
}

template <class T> MatrixView<T> turned(const Operand& o, bool turn) {
  const MatrixView<T> v = o.matrix<T>();
  return turn ? v.transposed() : v;
}

// (codes, scales) of x, or of x^T with `turn`: row by row, in groups along the rows.
nb::object quantize(nb::handle x, const std::string& format, const std::string& groups, bool turn,
                    nb::handle executor) {
  const char* const operation = "blas.quantize";
  Call call(operation, executor, {x});
  const DType type = float8(operation, format);
  const Operand from = call.in(x, "x", kSingle, 2);
  const MatrixView<const float> v = turned<const float>(from, turn);
  const std::int64_t blocks = (v.columns() + blas::kScaleBlock - 1) / blas::kScaleBlock;
  require(groups == "matrix" || groups == "rows" || groups == "blocks",
          "{}: scales is '{}'; it must be matrix, rows or blocks", operation, groups);
  const Operand codes = call.out(DType::UInt8, {v.rows(), v.columns()});
  const Operand scale =
      call.out(DType::Float32, {groups == "matrix" ? 1 : v.rows(), groups == "blocks" ? blocks : std::int64_t{1}});
  call.run([&] { blas::detail::quantize(call.executor(), v, typed(codes, type), scale.matrix<float>()); });
  return nb::make_tuple(call.result(codes), call.result(scale));
}

// alpha op(A) op(B) + beta C; the scales are those of A's and of B's codes as they are stored.
nb::object scaled_gemm(Factor alpha, nb::handle a, nb::handle scale_a, const std::string& format_a, bool turn_a,
                       nb::handle b, nb::handle scale_b, const std::string& format_b, bool turn_b, Factor beta,
                       nb::handle c, const std::string& type, nb::handle executor, bool accuracy) {
  const char* const operation = "blas.scaled_gemm";
  Call call(operation, executor, {a, scale_a, b, scale_b, c});
  const Operand A = call.in(a, "A", kBytes, 2), B = call.in(b, "B", kBytes, 2);
  const Operand sa = call.in(scale_a, "A's scale", kSingle, 2), sb = call.in(scale_b, "B's scale", kSingle, 2);
  const Operand C = updated(call, c, "C", stored(operation, type), {A.shape[turn_a ? 1 : 0], B.shape[turn_b ? 0 : 1]});
  const blas::ScaledOptions options{turned<const float>(sa, turn_a), turned<const float>(sb, turn_b)};
  const float f = factor<float>(operation, alpha), g = c.is_none() ? 0.0f : factor<float>(operation, beta);
  const blas::TypedMatrix left = typed(A, float8(operation, format_a)), right = typed(B, float8(operation, format_b)),
                          out = typed(C, C.dtype);
  Accuracy bound;
  call.run([&] {
    bound = blas::scaled_gemm_ex(call.executor(), turn_a ? Op::T : Op::N, turn_b ? Op::T : Op::N, f, left, right, g,
                                 out, options);
  });
  return answer(call, C, bound, accuracy);
}

blas::MxType mx_type(const char* operation, const std::string& format) {
  using blas::MxType;
  for (const MxType t : {MxType::Float8E4M3FN, MxType::Float8E5M2, MxType::Float4E2M1FN}) {
    if (format == blas::name(t)) return t;
  }
  fail<InvalidArgument>("{}: format is '{}'; it must be float8_e4m3fn, float8_e5m2 or float4_e2m1fn", operation,
                        format);
}

// float16 as it is, on either kind of executor; NumPy's float32 rounded to bfloat16 first.
blas::MxMatrix mx_quantize(nb::handle x, const std::string& format, nb::handle executor) {
  const char* const operation = "blas.mx_quantize";
  Call call(operation, executor, {x});
  const blas::MxType type = mx_type(operation, format);
  std::optional<blas::MxMatrix> made;
  if (!is_array(x) || fields(x).dtype == DType::Float16) {
    const Operand from = call.in(x, "x", only(DType::Float16), 2);
    call.run([&] { made.emplace(blas::mx_quantize(call.executor(), from.matrix<const float16>(), type)); });
    return std::move(*made);
  }
  Call here(operation, nb::cast(Executor::host()), {x});
  const Operand from = here.in(x, "x", kSingle, 2);
  call.run([&] {
    std::vector<bfloat16> rounded;
    for (std::int64_t i = 0; i < from.shape[0]; ++i) {
      for (std::int64_t j = 0; j < from.shape[1]; ++j)
        rounded.emplace_back(from.pointer<const float>()[i * from.strides[0] + j * from.strides[1]]);
    }
    const auto m = Matrix<bfloat16>::from_host(call.executor(), from.shape[0], from.shape[1], rounded);
    made.emplace(blas::mx_quantize(call.executor(), MatrixView<const bfloat16>(m), type));
  });
  return std::move(*made);
}

blas::MxMatrix mx_from_codes(nb::handle codes, nb::handle scales, const std::string& format, nb::handle executor) {
  Call here("blas.MxMatrix", nb::cast(Executor::host()), {codes, scales});
  const Operand c = here.copy_of(codes, "codes", kBytes), s = here.copy_of(scales, "scales", kBytes);
  check_rank(here, c, "codes", 2);
  check_rank(here, s, "scales", 2);
  const std::int64_t groups = (c.shape[1] + blas::kMxGroup - 1) / blas::kMxGroup;
  require(s.shape == Shape{c.shape[0], groups}, "blas.MxMatrix: scales has shape {}; codes of {} need {}",
          to_string(s.shape), to_string(c.shape), to_string(Shape{c.shape[0], groups}));
  const auto bytes = [](const Operand& o) {
    return std::span(o.pointer<const std::uint8_t>(), static_cast<std::size_t>(element_count(o.shape)));
  };
  return blas::MxMatrix::from_host(executor_of(executor), mx_type("blas.MxMatrix", format), c.shape[0], c.shape[1],
                                   bytes(c), bytes(s));
}

nb::object mx_numpy(const blas::MxMatrix& a) {
  std::vector<float> values;
  {
    const nb::gil_scoped_release released;
    values = a.to_host();
  }
  const nb::object array = new_array(DType::Float32, {a.rows(), a.depth()});
  std::copy(values.begin(), values.end(), static_cast<float*>(data_of(array)));
  return array;
}

nb::object mx_gemm(Factor alpha, const blas::MxMatrix& a, const blas::MxMatrix& b, Factor beta, nb::handle c,
                   const std::string& type, bool accuracy) {
  const char* const operation = "blas.mx_gemm";
  Call call(operation, nb::cast(a.executor()), {c});
  const Operand C = updated(call, c, "C", stored(operation, type), {a.rows(), b.rows()});
  const float f = factor<float>(operation, alpha), g = c.is_none() ? 0.0f : factor<float>(operation, beta);
  Accuracy bound;
  call.run([&] {
    bound = C.dtype == DType::Float32 ? blas::mx_gemm(call.executor(), f, a, b, g, C.matrix<float>())
                                      : blas::mx_gemm(call.executor(), f, a, b, g, C.matrix<float16>());
  });
  return answer(call, C, bound, accuracy);
}

}  // namespace

void bind_scaled(nb::module_& m) {
  m.def("quantize", &quantize, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("scaled_gemm", &scaled_gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg());
  nb::class_<blas::MxMatrix>(m, "MxMatrix")
      .def_prop_ro("shape", [](const blas::MxMatrix& a) { return nb::make_tuple(a.rows(), a.depth()); })
      .def_prop_ro("format", [](const blas::MxMatrix& a) { return std::string(blas::name(a.type())); })
      .def_prop_ro("executor", [](const blas::MxMatrix& a) { return a.executor(); })
      .def("numpy", &mx_numpy)
      .def(
          "_on", [](const blas::MxMatrix& a, nb::handle executor) { return a.on(executor_of(executor)); },
          nb::arg().none());
  m.def("mx_quantize", &mx_quantize, nb::arg(), nb::arg(), nb::arg().none());
  m.def("mx_from_codes", &mx_from_codes, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("mx_gemm", &mx_gemm, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace trn::python
