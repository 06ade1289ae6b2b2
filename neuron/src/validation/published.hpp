// The published kernels behind the validation table, as tile programs. Loops, tile shapes, buffer counts and descriptor
// sources follow the published source where there is one; where only a description was published, the comment says what
// is inferred. Matrices are C = A^T B with A (K, M), B (K, N): the contraction runs over partitions.
#pragma once

#include <cstdint>
#include <trn/tile/builder.hpp>
#include <vector>

namespace trn::neuron::validation {

struct MatmulShape {
  DType dtype = DType::BFloat16;
  std::int64_t m = 0, n = 0, k = 0;
};

// --- published_naive.cpp: (128, 128) and (128, 512) loads inside the m, n, k loops

// Both operands loaded for every matmul.
[[nodiscard]] tile::Program streamed_matmul(const tile::Machine& machine, const MatmulShape& shape);

// The same loops after the compiler removed loads of tiles it still held: a tile of A serves `a_serves` columns of
// tiles, a tile of B serves `b_serves` rows of tiles.
struct Reuse {
  std::int64_t a_serves = 1, b_serves = 1;
};
[[nodiscard]] tile::Program naive_matmul(const tile::Machine& machine, const MatmulShape& shape, const Reuse& reuse);

// naive_matmul with b_serves = 2 where A arrives untransposed and every tile passes through the Tensor Engine first, in
// the iteration that uses it or in the one before.
enum class TransposeAhead { None, One };
[[nodiscard]] tile::Program naive_matmul_transposing(const tile::Machine& machine, const MatmulShape& shape,
                                                     TransposeAhead ahead);

// --- published_blocked.cpp: operands of a block loaded before its matmuls

enum class LoadWidth { Tile, Block };  // one dma_copy per tile, or one per row of the block
struct BlockMN {
  std::int64_t bm = 1, bn = 1;  // tiles of (128, 512) in a block of C
  LoadWidth load = LoadWidth::Tile;
  std::int64_t b_buffers = 1;
};
// A for a block of rows, B for a block of columns, the whole of K resident.
[[nodiscard]] tile::Program blocked_matmul(const tile::Machine& machine, const MatmulShape& shape,
                                           const BlockMN& block);

struct BlockMNK {
  std::int64_t bm = 1, bn = 1, bk = 1;
  std::int64_t a_buffers = 2, b_buffers = 2;
};
// K in blocks too; partial sums of a column of blocks accumulate in SBUF.
[[nodiscard]] tile::Program fully_blocked_matmul(const tile::Machine& machine, const MatmulShape& shape,
                                                 const BlockMNK& block);

// --- published_2048.cpp: bf16 2048^3 of awslabs/nki-autotune

[[nodiscard]] tile::Program hand_matmul_2048(const tile::Machine& machine);
// All loads first, then one row of C per accumulator of four banks.
[[nodiscard]] tile::Program hoisted_matmul_2048(const tile::Machine& machine, std::int64_t accumulators);

// --- published_trn1.cpp: the square bf16 GEMM sweep of pantheongpu/pantheonneuron

enum class Right { Resident, Streamed };  // a column of B kept on chip, or loaded for every matmul
// `wide` tiles of A arrive in one load and feed `wide` accumulators.
[[nodiscard]] tile::Program wide_matmul(const tile::Machine& machine, std::int64_t size, std::int64_t wide,
                                        Right right);

// --- published_gelu.cpp: GEMM + bias + GELU of allenkchau/trainium-kernel-fusion

enum class Activated { InPlace, Not };
[[nodiscard]] tile::Program gelu_matmul(const tile::Machine& machine, const MatmulShape& shape, Activated activated);
// GELU alone over an (m, n) matrix.
[[nodiscard]] tile::Program gelu(const tile::Machine& machine, const MatmulShape& shape);

// --- published_mamba.cpp: the selective scan of AWS's tutorial

struct ScanShape {
  std::int64_t channels = 0, length = 0, states = 16;
};
// States outside, delta and u loaded `reloads` times.
[[nodiscard]] tile::Program mamba_v1(const tile::Machine& machine, const ScanShape& shape, std::int64_t reloads);
// Channels outside, whole rows; the same in pieces of 512.
[[nodiscard]] tile::Program mamba_v2(const tile::Machine& machine, const ScanShape& shape);
[[nodiscard]] tile::Program mamba_v3(const tile::Machine& machine, const ScanShape& shape);

// --- published_conv.cpp

// 3 x 3, 256 to 256 channels, 224 x 224 pixels.
[[nodiscard]] tile::Program convolution(const tile::Machine& machine, DType dtype);
// Rotary embedding of (128, columns) fp32.
[[nodiscard]] tile::Program rotary(const tile::Machine& machine, std::int64_t columns);

// --- published_small.cpp

// `count` matmuls of each size on operands that stay in SBUF.
struct ResidentMatmul {
  std::int64_t k = 128, m = 128, n = 512, count = 0;
};
[[nodiscard]] tile::Program resident_matmuls(const tile::Machine& machine, const std::vector<ResidentMatmul>& sizes);

// 16 loads and stores of (128, columns) bf16, four with each descriptor source, and 12 small DMAs.
[[nodiscard]] tile::Program descriptor_sources(const tile::Machine& machine, std::int64_t columns);

// c = a + b, fp32, `tiles` tiles of (128, columns), descriptors made beforehand.
[[nodiscard]] tile::Program vector_add(const tile::Machine& machine, std::int64_t tiles, std::int64_t columns);

// 1024 x 1024 fp32 in 64 pieces through the Tensor Engine, moved out by the Scalar Engine.
[[nodiscard]] tile::Program transpose_1024(const tile::Machine& machine);

}  // namespace trn::neuron::validation
