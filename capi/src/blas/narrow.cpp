// What cuBLAS does not have: products of 8-bit floats with scales, microscaling matrices, and results of 16 or 8 bits
// that are rounded at random.
#include <trn/blas/mx.hpp>
#include <trn/blas/narrow.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/blas/quantized_gemm.hpp>
#include <trn/core/convert.hpp>

#include "blas.hpp"
#include "compute_types.hpp"

struct trnblasMxMatrix {
  trn::blas::MxMatrix matrix;
  const trn::capi::Device* device;
  int generation;
};

namespace trn::capi::blas {

namespace {

// Element types of 16 and 8 bits.
template <class F> void with_narrow(Type type, const F& f) {
  switch (type) {
    case TRN_R_16F:
      return f(static_cast<float16*>(nullptr));
    case TRN_R_16BF:
      return f(static_cast<bfloat16*>(nullptr));
    case TRN_R_8F_E4M3:
      return f(static_cast<float8_e4m3fn*>(nullptr));
    case TRN_R_8F_E4M3_240:
      return f(static_cast<float8_e4m3*>(nullptr));
    case TRN_R_8F_E5M2:
      return f(static_cast<float8_e5m2*>(nullptr));
    default:
      fail<NotImplemented>("element type {}; results have 16 or 8 bits", static_cast<int>(type));
  }
}
template <class T> MatrixView<T> turned(const MatrixView<T>& m) {
  return {m.executor(), m.data(), m.columns(), m.rows(), m.column_stride(), m.row_stride()};
}
// N or T of a matrix that is rounded in groups along its rows.
template <class T> MatrixView<T> grouped(const MatrixView<T>& m, OpArg trans) {
  const Op op = op_of(trans);
  if (op == Op::C) fail<InvalidArgument>("the operation is C; it must be N or T");
  return op == Op::T ? turned(m) : m;
}

}  // namespace

void scaled_gemm(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const void* a,
                 Type a_type, Int lda, const float* scale_a, Int scale_a_rows, Int scale_a_columns, const void* b,
                 Type b_type, Int ldb, const float* scale_b, Int scale_b_rows, Int scale_b_columns, const float* beta,
                 void* to, Type c_type, Int ldc) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  tb::ScaledOptions options;
  const auto scale = [&](const char* what, const float* x, Int rows, Int columns) {
    return c.matrix(what, x, rows, columns, std::max<Int>(rows, 1));
  };
  if (scale_a) options.scale_a.emplace(scale("scaleA", scale_a, scale_a_rows, scale_a_columns));
  if (scale_b) options.scale_b.emplace(scale("scaleB", scale_b, scale_b_rows, scale_b_columns));
  c.keep(tb::scaled_gemm_ex(c.executor, oa, ob, c.read(alpha, "alpha"),
                            typed_matrix(c, "A", a, dtype(a_type), oa == Op::N ? m : k, oa == Op::N ? k : m, lda),
                            typed_matrix(c, "B", b, dtype(b_type), ob == Op::N ? k : n, ob == Op::N ? n : k, ldb),
                            c.read(beta, "beta"), typed_matrix(c, "C", to, dtype(c_type), m, n, ldc), options));
}

void quantize(Call& c, OpArg trans, Int rows, Int columns, const float* x, Int ldx, void* q, Type q_type, Int ldq,
              float* scale, Int scale_rows, Int scale_columns) {
  with_narrow(q_type, [&]<class T>(T*) {
    if constexpr (tb::Float8<T>) {
      const auto from = c.matrix("X", x, rows, columns, ldx);
      const auto to = c.matrix("Q", as<T>(q), rows, columns, ldq);
      const auto factors = c.matrix("scale", scale, scale_rows, scale_columns, std::max<Int>(scale_rows, 1));
      tb::quantize(c.executor, grouped(from, trans), grouped(to, trans), grouped(factors, trans));
    } else {
      fail<NotImplemented>("quantisation to 16 bits; there are the three 8-bit types");
    }
  });
}

namespace {
tb::MxType mx_type_of(Type type) {
  if (type == TRN_R_8F_E4M3) return tb::MxType::Float8E4M3FN;
  if (type == TRN_R_8F_E5M2) return tb::MxType::Float8E5M2;
  if (type == TRN_R_4F_E2M1) return tb::MxType::Float4E2M1FN;
  fail<NotImplemented>("microscaling with type {}; there are 8F_E4M3, 8F_E5M2 and 4F_E2M1", static_cast<int>(type));
}
void give(Call& c, tb::MxMatrix made, trnblasMxMatrix_t* result) {
  *result = alive<trnblasMxMatrix>().add(std::make_shared<trnblasMxMatrix>(
      trnblasMxMatrix{std::move(made), c.handle.device, c.handle.device->generation}));
}
std::shared_ptr<trnblasMxMatrix> mx_of(Call& c, trnblasMxMatrix_t matrix) {
  auto found = alive<trnblasMxMatrix>().get(matrix);
  require(found && found->generation == found->device->generation,
          "a microscaling matrix is null, was destroyed, or its device was reset");
  require(found->device == c.handle.device, "the matrix lies on device {} and the handle is for device {}",
          found->device->number, c.handle.device->number);
  return found;
}
}  // namespace

void mx_quantize(Call& c, OpArg trans, Int rows, Int depth, const void* x, Type x_type, Int ldx, Type mx_type,
                 trnblasMxMatrix_t* result) {
  require(result != nullptr, "result is null; it receives the matrix");
  const tb::MxType type = mx_type_of(mx_type);
  with_narrow(x_type, [&]<class T>(T*) {
    if constexpr (std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>) {
      const bool turn = op_of(trans) != Op::N;
      const auto from = c.matrix("X", as<T>(x), turn ? depth : rows, turn ? rows : depth, ldx);
      give(c, tb::mx_quantize(c.executor, grouped(from, trans), type), result);
    } else {
      fail<NotImplemented>("microscaling of 8-bit floats; X is 16F or 16BF");
    }
  });
}
void mx_from_host(Call& c, Int rows, Int depth, Type mx_type, const unsigned char* codes, const unsigned char* scales,
                  trnblasMxMatrix_t* result) {
  require(result != nullptr && codes != nullptr && scales != nullptr,
          "the address of the codes, the scales or the result is null");
  require(rows >= 0 && depth >= 0 && rows < (Int{1} << 31) && depth < (Int{1} << 31), "a matrix of {} x {}", rows,
          depth);
  const auto count = static_cast<std::size_t>(rows * depth),
             groups = static_cast<std::size_t>(rows * ((depth + tb::kMxGroup - 1) / tb::kMxGroup));
  give(c, tb::MxMatrix::from_host(c.executor, mx_type_of(mx_type), rows, depth, {codes, count}, {scales, groups}),
       result);
}
void mx_to_host(Call& c, trnblasMxMatrix_t matrix, float* values) {
  require(values != nullptr, "values is null; it receives the elements");
  const auto all = mx_of(c, matrix)->matrix.to_host();
  std::copy(all.begin(), all.end(), values);
}
void mx_destroy(trnblasMxMatrix_t matrix) {
  require(alive<trnblasMxMatrix>().get(matrix) != nullptr, "the matrix is null or was destroyed");
  alive<trnblasMxMatrix>().remove(matrix);
}
void gemm_quantized(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const float* a,
                    Int lda, const float* b, Int ldb, const float* beta, float* to, Int ldc, const char* mode) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  require(mode != nullptr, "mode is null; use a name such as \"fp8_e4m3\"");
  const tb::Quantized how = tb::parse_quantized(mode);
  const float factor = c.read(alpha, "alpha"), scale = c.read(beta, "beta");
  const auto operand = [&](const char* what, const float* x, Op op, Int rows, Int columns, Int ld) {
    return op == Op::N ? c.matrix(what, x, rows, columns, ld) : c.matrix(what, x, columns, rows, ld);
  };
  Accuracy accuracy;
  accuracy.bound = tb::gemm(c.executor, oa, ob, factor, operand("A", a, oa, m, k, lda), operand("B", b, ob, k, n, ldb),
                            scale, c.matrix("C", to, m, n, ldc), how)
                       .bound;
  c.keep(accuracy);
}

void mx_gemm(Call& c, const float* alpha, trnblasMxMatrix_t a, trnblasMxMatrix_t b, const float* beta, void* to,
             Type c_type, Int ldc) {
  const auto ma = mx_of(c, a), mb = mx_of(c, b);
  const float factor = c.read(alpha, "alpha"), scale = c.read(beta, "beta");
  const auto product = [&]<class T>(T* data) {
    c.keep(tb::mx_gemm(c.executor, factor, ma->matrix, mb->matrix, scale,
                       c.matrix("C", data, ma->matrix.rows(), mb->matrix.rows(), ldc)));
  };
  if (c_type == TRN_R_32F) return product(static_cast<float*>(to));
  if (c_type == TRN_R_16BF) return product(static_cast<bfloat16*>(to));
  if (c_type == TRN_R_16F) return product(static_cast<float16*>(to));
  fail<NotImplemented>("C of type {}; it is 32F, 16BF or 16F", static_cast<int>(c_type));
}

// f(x, y) on the views of vectors whose types are known at run time; x has y's type or is float.
template <class F>
void with_two(Call& c, Int n, const void* x, Type x_type, Int incx, void* y, Type y_type, Int incy, const F& f) {
  with_narrow(y_type, [&]<class T>(T*) {
    const auto to = c.vector("y", as<T>(y), n, incy);
    if (x_type == TRN_R_32F) return f(c.vector("x", as<float>(x), n, incx), to);
    if (x_type != y_type) fail<NotImplemented>("x of another type than y and 32F");
    f(c.vector("x", as<T>(x), n, incx), to);
  });
}

void axpy_stochastic(Call& c, Int n, const float* alpha, const void* x, Type x_type, Int incx, void* y, Type y_type,
                     Int incy, unsigned long long seed, unsigned long long step) {
  const float factor = c.read(alpha, "alpha");
  const Rounding rounding = Rounding::Stochastic{seed, step};
  with_two(c, n, x, x_type, incx, y, y_type, incy,
           [&](const auto& from, const auto& to) { tb::axpy(c.executor, factor, from, to, rounding); });
}
void axpby_stochastic(Call& c, Int n, const float* alpha, const void* x, Type x_type, Int incx, const float* beta,
                      void* y, Type y_type, Int incy, unsigned long long seed, unsigned long long step) {
  const float a = c.read(alpha, "alpha"), b = c.read(beta, "beta");
  const Rounding rounding = Rounding::Stochastic{seed, step};
  with_two(c, n, x, x_type, incx, y, y_type, incy,
           [&](const auto& from, const auto& to) { tb::axpby(c.executor, a, from, b, to, rounding); });
}
void scal_stochastic(Call& c, Int n, const float* alpha, void* x, Type x_type, Int incx, unsigned long long seed,
                     unsigned long long step) {
  const float factor = c.read(alpha, "alpha");
  with_narrow(x_type, [&]<class T>(T*) {
    tb::scal(c.executor, factor, c.vector("x", as<T>(x), n, incx), Rounding::Stochastic{seed, step});
  });
}
void copy_stochastic(Call& c, Int n, const float* x, Int incx, void* y, Type y_type, Int incy, unsigned long long seed,
                     unsigned long long step) {
  with_narrow(y_type, [&]<class T>(T*) {
    tb::copy(c.executor, c.vector("x", x, n, incx), c.vector("y", as<T>(y), n, incy), Rounding::Stochastic{seed, step});
  });
}
void gemm_stochastic(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const void* a,
                     Type a_type, Int lda, const void* b, Type b_type, Int ldb, const float* beta, void* to,
                     Type c_type, Int ldc, unsigned long long seed, unsigned long long step) {
  const Op oa = op_of(transa), ob = op_of(transb);
  check_extents(m, n, k);
  const float factor = c.read(alpha, "alpha"), scale = c.read(beta, "beta");
  const Rounding rounding = Rounding::Stochastic{seed, step};
  const Int rows_a = oa == Op::N ? m : k, columns_a = oa == Op::N ? k : m, rows_b = ob == Op::N ? k : n,
            columns_b = ob == Op::N ? n : k;
  with_narrow(c_type, [&]<class T>(T*) {
    if constexpr (tb::Float8<T>) {
      c.keep(tb::detail::float8_gemm(c.executor, oa, ob, factor,
                                     typed_matrix(c, "A", a, dtype(a_type), rows_a, columns_a, lda),
                                     typed_matrix(c, "B", b, dtype(b_type), rows_b, columns_b, ldb), scale,
                                     typed_matrix(c, "C", to, dtype(c_type), m, n, ldc), rounding));
    } else {
      if (a_type != c_type || b_type != c_type) fail<NotImplemented>("operands of other types than C's 16 bits");
      c.keep(tb::gemm(c.executor, oa, ob, factor, c.matrix("A", as<T>(a), rows_a, columns_a, lda),
                      c.matrix("B", as<T>(b), rows_b, columns_b, ldb), scale, c.matrix("C", as<T>(to), m, n, ldc),
                      rounding, c.precision<float>()));
    }
  });
}

}  // namespace trn::capi::blas
