// The block of one thread of a direct contraction, as the tile kernel sees it: packed panels and lists of offsets.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/core/dtype.hpp>

namespace trn::tensor::host {

constexpr int kTileColumns = 4;  // columns of W in the register tile
constexpr int kTileVectors = 3;  // vectors of V rows

// Rows of V in a vector of 32 bytes of the compute type.
[[nodiscard]] std::int64_t group_rows(DType compute);

// Offsets in elements.
struct PackV {
  const void* data;
  DType type, compute;
  bool conj;
  const std::int64_t *rows, *ks;
  std::int64_t row_count, k_count, turned;
  void* scratch;  // 16-bit types: k_count x group_rows elements, twice
  void* out;
};
struct PackW {
  const void* data;
  DType type, compute;
  bool conj;
  const std::int64_t *columns, *ks;
  std::int64_t column_count, k_count;
  void* out;
};
// D = alpha sum + beta C, or D += alpha sum.
struct TileBlock {
  DType compute;
  const void *v, *w, *c;
  void* d;
  std::int64_t row_count, column_count, k_count;
  const std::int64_t *d_rows, *d_columns, *c_rows, *c_columns;
  std::complex<double> alpha, beta;
  bool accumulate;
};

// Real numbers in a packed block.
[[nodiscard]] std::int64_t packed_v_bytes(DType compute, std::int64_t rows, std::int64_t ks);
[[nodiscard]] std::int64_t packed_w_bytes(DType compute, std::int64_t columns, std::int64_t ks);
void pack_v(const PackV& p);
void pack_w(const PackW& p);
void multiply(const TileBlock& t);

}  // namespace trn::tensor::host
