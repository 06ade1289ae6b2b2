// The bodies of cuBLAS's routines: everything that capi/api/blas.api names.
#pragma once

#include "extended.hpp"
#include "factor_batches.hpp"
#include "handle.hpp"
#include "level1.hpp"
#include "level2.hpp"
#include "level3.hpp"
#include "narrow.hpp"
#include "typed.hpp"

namespace trn::capi::blas {

void create(trnblasHandle_t* handle);
void destroy(Call& c);
void get_version(int* version);
void set_stream(Call& c, trnStream_t stream);
void get_stream(Call& c, trnStream_t* stream);
void set_workspace(Call& c, void* workspace, std::size_t bytes);
void set_pointer_mode(Call& c, trnblasPointerMode_t mode);
void get_pointer_mode(Call& c, trnblasPointerMode_t* mode);
void set_atomics_mode(Call& c, trnblasAtomicsMode_t mode);
void get_atomics_mode(Call& c, trnblasAtomicsMode_t* mode);
void set_math_mode(Call& c, trnblasMath_t mode);
void get_math_mode(Call& c, trnblasMath_t* mode);
// Emulated products here are Bf16x6 and Exact, which have bounds of their own and nothing to tune.
template <class E> void set_emulation(Call&, E) {}
void set_emulation(Call& c, trnblasEmulationStrategy_t strategy);
void get_emulation_strategy(Call& c, trnblasEmulationStrategy_t* strategy);
inline void set_mantissa_bits(Call&, int) {}
void set_precision(Call& c, const char* precision);
void get_bound(Call& c, double* bound);
// No part of a device can be set aside: 0, all of it, is what there is.
inline void set_sm_count(Call&, int count) {
  require(count >= 0, "the number of processors is {}; it must be >= 0", count);
  if (count > 0) fail<NotImplemented>("a part of a device's processors ({})", count);
}
inline void get_sm_count(Call&, int* count) {
  require(count != nullptr, "smCountTarget is null; it receives the result");
  *count = 0;
}
void set_vector(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy);
void get_vector(std::int64_t n, std::int64_t size, const void* x, std::int64_t incx, void* y, std::int64_t incy);
void set_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda, void* b,
                std::int64_t ldb);
void get_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void* a, std::int64_t lda, void* b,
                std::int64_t ldb);

// Behind what is in the stream, and done when they return.
inline void drain(trnStream_t stream) {
  run(*stream_of(stream), [] {});
}
inline void set_vector_async(Int n, Int size, const void* x, Int incx, void* y, Int incy, trnStream_t stream) {
  drain(stream), set_vector(n, size, x, incx, y, incy);
}
inline void get_vector_async(Int n, Int size, const void* x, Int incx, void* y, Int incy, trnStream_t stream) {
  drain(stream), get_vector(n, size, x, incx, y, incy);
}
inline void set_matrix_async(Int rows, Int columns, Int size, const void* a, Int lda, void* b, Int ldb,
                             trnStream_t stream) {
  drain(stream), set_matrix(rows, columns, size, a, lda, b, ldb);
}
inline void get_matrix_async(Int rows, Int columns, Int size, const void* a, Int lda, void* b, Int ldb,
                             trnStream_t stream) {
  drain(stream), get_matrix(rows, columns, size, a, lda, b, ldb);
}

}  // namespace trn::capi::blas
