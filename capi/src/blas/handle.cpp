// Handles, modes and the copies of vectors and matrices.
#include "handle.hpp"

#include "blas.hpp"

namespace trn::capi::blas {

Op op_of(trnblasOperation_t op) {
  switch (op) {
    case TRNBLAS_OP_N:
      return Op::N;
    case TRNBLAS_OP_T:
      return Op::T;
    case TRNBLAS_OP_C:
      return Op::C;
    case TRNBLAS_OP_CONJG:
      fail<NotImplemented>("a matrix that is conjugated and not transposed");
  }
  fail<InvalidArgument>("the operation is {}; it must be 0, 1 or 2", static_cast<int>(op));
}
Uplo uplo_of(trnblasFillMode_t uplo) {
  if (uplo == TRNBLAS_FILL_MODE_LOWER) return Uplo::Lower;
  if (uplo == TRNBLAS_FILL_MODE_UPPER) return Uplo::Upper;
  fail<InvalidArgument>("the fill mode is {}; it must be 0 or 1", static_cast<int>(uplo));
}
Side side_of(trnblasSideMode_t side) {
  if (side == TRNBLAS_SIDE_LEFT) return Side::Left;
  if (side == TRNBLAS_SIDE_RIGHT) return Side::Right;
  fail<InvalidArgument>("the side is {}; it must be 0 or 1", static_cast<int>(side));
}
Diag diag_of(trnblasDiagType_t diag) {
  if (diag == TRNBLAS_DIAG_NON_UNIT) return Diag::NonUnit;
  if (diag == TRNBLAS_DIAG_UNIT) return Diag::Unit;
  fail<InvalidArgument>("the diagonal's type is {}; it must be 0 or 1", static_cast<int>(diag));
}

std::int64_t span_bytes(std::int64_t count, std::int64_t step, std::int64_t line, std::int64_t size) {
  std::int64_t elements = 0, bytes = 0;
  const bool overflow = __builtin_mul_overflow(count - 1, step, &elements) ||
                        __builtin_add_overflow(elements, line, &elements) ||
                        __builtin_mul_overflow(elements, size, &bytes);
  require(!overflow, "{} lines {} elements apart are more than an address space has", count, step);
  return bytes;
}

void create(trnblasHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnblasContext>().remove(&c.handle); }
void get_version(int* version) { answer("version", version, 130000); }
// Memory for the library to work in is taken from the executor: a caller's workspace is checked and left alone.
void set_workspace(Call& c, void* workspace, std::size_t bytes) {
  (void)device_memory(*c.handle.device, "workspace", workspace, static_cast<std::int64_t>(bytes));
}
template <class T> void set_mode(T& to, T mode, int most) {
  require(static_cast<int>(mode) >= 0 && static_cast<int>(mode) <= most, "the mode is {}; it must be 0 to {}",
          static_cast<int>(mode), most);
  to = mode;
}
void set_pointer_mode(Call& c, trnblasPointerMode_t mode) { set_mode(c.handle.pointer_mode, mode, 1); }
void get_pointer_mode(Call& c, trnblasPointerMode_t* mode) { answer("mode", mode, c.handle.pointer_mode); }
void set_atomics_mode(Call& c, trnblasAtomicsMode_t mode) { set_mode(c.handle.atomics_mode, mode, 1); }
void get_atomics_mode(Call& c, trnblasAtomicsMode_t* mode) { answer("mode", mode, c.handle.atomics_mode); }
void set_math_mode(Call& c, trnblasMath_t mode) {
  // Sixteen is a flag beside the mode; nothing here reduces in less than the type's precision.
  const int plain = static_cast<int>(mode) & ~static_cast<int>(TRNBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  require((plain >= 0 && plain <= 4) || plain == 8, "the math mode is {}; it must be 0 to 4 or 8, with or without 16",
          static_cast<int>(mode));
  c.handle.math_mode = static_cast<trnblasMath_t>(plain);
}
void get_math_mode(Call& c, trnblasMath_t* mode) { answer("mode", mode, c.handle.math_mode); }
void set_emulation(Call& c, trnblasEmulationStrategy_t strategy) { set_mode(c.handle.emulation, strategy, 2); }
void get_emulation_strategy(Call& c, trnblasEmulationStrategy_t* strategy) {
  answer("mode", strategy, c.handle.emulation);
}
void set_precision(Call& c, const char* precision) {
  require(precision != nullptr, "precision is null; use a name such as \"exact\" or \"target=1e-9\"");
  c.handle.precision = Precision::parse(precision);
}
void get_bound(Call& c, double* bound) { answer("bound", bound, c.handle.bound); }

namespace {

struct Copy {
  const char* what;
  bool to_device;
};

// rows x columns elements, column-major, between host and device memory, in the current device's default stream.
void copy_matrix(const Copy& copy, std::int64_t rows, std::int64_t columns, std::int64_t size, const void* from,
                 std::int64_t from_ld, void* to, std::int64_t to_ld) {
  require(rows >= 0 && columns >= 0 && size > 0, "{}: {} x {} elements of {} bytes", copy.what, rows, columns, size);
  require(from_ld >= std::max<std::int64_t>(1, rows) && to_ld >= std::max<std::int64_t>(1, rows),
          "{}: leading dimensions are {} and {}; they must be at least {}", copy.what, from_ld, to_ld,
          std::max<std::int64_t>(1, rows));
  if (rows == 0 || columns == 0) return;
  require(from && to, "{}: an address is null", copy.what);
  Device& d = current_device();
  const std::int64_t bytes = span_bytes(columns, copy.to_device ? to_ld : from_ld, rows, size);
  if (copy.to_device)
    to = device_memory(d, "the destination", to, bytes);
  else
    from = device_memory(d, "the source", from, bytes);
  const Executor &source = copy.to_device ? Executor::host() : d.executor,
                 &destination = copy.to_device ? d.executor : Executor::host();
  run(d.legacy, [&] {
    for (std::int64_t j = 0; j < columns; ++j)
      copy_bytes(source, static_cast<const std::byte*>(from) + j * from_ld * size, destination,
                 static_cast<std::byte*>(to) + j * to_ld * size, rows * size);
  });
}

// A vector with increments is a matrix of one row.
void copy_vector(const Copy& copy, std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y,
                 std::int64_t incy) {
  require(n >= 0 && incx > 0 && incy > 0, "{}: {} elements with increments {} and {}; increments must be positive",
          copy.what, n, incx, incy);
  if (incx == 1 && incy == 1)
    return copy_matrix(copy, n, 1, size, x, std::max<std::int64_t>(1, n), y, std::max<std::int64_t>(1, n));
  copy_matrix(copy, 1, n, size, x, incx, y, incy);
}

}  // namespace

void set_vector(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy) {
  copy_vector({"SetVector", true}, n, size, x, incx, y, incy);
}
void get_vector(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy) {
  copy_vector({"GetVector", false}, n, size, x, incx, y, incy);
}
void set_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda, void* b,
                std::int64_t ldb) {
  copy_matrix({"SetMatrix", true}, rows, columns, size, a, lda, b, ldb);
}
void get_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda, void* b,
                std::int64_t ldb) {
  copy_matrix({"GetMatrix", false}, rows, columns, size, a, lda, b, ldb);
}

namespace {
// Behind what is in the stream, and done when they return.
void drain(trnStream_t stream) {
  run(*stream_of(stream), [] {});
}
}  // namespace
void set_vector_async(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy,
                      trnStream_t stream) {
  drain(stream), set_vector(n, size, x, incx, y, incy);
}
void get_vector_async(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy,
                      trnStream_t stream) {
  drain(stream), get_vector(n, size, x, incx, y, incy);
}
void set_matrix_async(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda,
                      void* b, std::int64_t ldb, trnStream_t stream) {
  drain(stream), set_matrix(rows, columns, size, a, lda, b, ldb);
}
void get_matrix_async(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda,
                      void* b, std::int64_t ldb, trnStream_t stream) {
  drain(stream), get_matrix(rows, columns, size, a, lda, b, ldb);
}

}  // namespace trn::capi::blas

namespace {

struct StatusName {
  trnblasStatus_t status;
  const char* name;
  const char* text;
};
// CUDA's names; the texts are ours.
constexpr StatusName kStatuses[] = {
    {TRNBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "no error"},
    {TRNBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the handle is not alive"},
    {TRNBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the memory is exhausted"},
    {TRNBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an argument has a value that the call does not take"},
    {TRNBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks what the call needs"},
    {TRNBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "memory could not be reached"},
    {TRNBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "a program failed on the device"},
    {TRNBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal error: please report it"},
    {TRNBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "this device or library does not have the operation"},
    {TRNBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the operation may not be used"},
};
const StatusName* entry(trnblasStatus_t status) {
  for (const StatusName& s : kStatuses)
    if (s.status == status) return &s;
  return nullptr;
}

}  // namespace

extern "C" {

const char* trnblasGetStatusName(trnblasStatus_t status) {
  const StatusName* s = entry(status);
  return s ? s->name : "<unknown>";
}
const char* trnblasGetStatusString(trnblasStatus_t status) {
  const StatusName* s = entry(status);
  return s ? s->text : "<unknown>";
}
}
