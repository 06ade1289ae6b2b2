// scaled_gemm and quantize on the host, with the bits of the device: operands are widened to float, panel by panel, and
// ordered_gemm adds 256 (or, with a scale for each, 128) products in the order of the Tensor Engine. An 8-bit product
// is exact in fp32, so it does not matter whether an addition is fused with it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <trn/blas/ordered_gemm.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels/scaled.hpp"
#include "narrow_rows.hpp"
#include "ordered_gemm.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kPanelRows = 1024, kPanelColumns = 2048;
static_assert(kOrderedDepth == 2 * kScaleBlock);

using Table = std::array<float, 256>;
Table table_of(DType dtype) {
  std::array<std::uint8_t, 256> codes;
  for (std::size_t i = 0; i < 256; ++i) codes[i] = static_cast<std::uint8_t>(i);
  Table table;
  to_float(dtype, codes.data(), table.data(), 256);
  return table;
}

// rows x columns of x at out[i * columns + j].
void widen(const Table& table, const std::uint8_t* x, std::int64_t rs, std::int64_t cs, std::int64_t rows,
           std::int64_t columns, float* out) {
  parallel_for(rows, rows * columns > 1 << 16, [&](std::int64_t i) {
    const std::uint8_t* from = x + i * rs;
    float* to = out + i * columns;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = table[from[j * cs]];
  });
}

}  // namespace

void scaled_gemm(const Executor&, const ScaledArgs& args) {
  const ScaledShape& s = args.shape;
  const bool nothing = s.k == 0 || args.alpha == 0;
  const Table table_a = table_of(s.a), table_b = table_of(s.b);
  const auto scale_a = [&](std::int64_t i, std::int64_t t) {
    return args.scale_a ? args.scale_a[i * s.a_row + t * s.a_block] : 1.0F;
  };
  const auto scale_b = [&](std::int64_t t, std::int64_t j) {
    return args.scale_b ? args.scale_b[t * s.b_block + j * s.b_column] : 1.0F;
  };
  const std::int64_t depth = s.blocks ? kScaleBlock : s.k;
  std::vector<float> a, b, sums, total;
  for (std::int64_t j0 = 0; j0 < s.n; j0 += kPanelColumns) {
    const std::int64_t columns = std::min(kPanelColumns, s.n - j0);
    if (!nothing) {
      b.resize(static_cast<std::size_t>(s.k * columns));
      widen(table_b, static_cast<const std::uint8_t*>(args.b) + j0 * s.bn, s.bk, s.bn, s.k, columns, b.data());
    }
    for (std::int64_t i0 = 0; i0 < s.m; i0 += kPanelRows) {
      const std::int64_t rows = std::min(kPanelRows, s.m - i0);
      total.assign(static_cast<std::size_t>(rows * columns), 0);
      if (!nothing) {
        a.resize(static_cast<std::size_t>(rows * s.k));
        widen(table_a, static_cast<const std::uint8_t*>(args.a) + i0 * s.am, s.am, s.ak, rows, s.k, a.data());
        sums.resize(total.size());
      }
      for (std::int64_t k0 = 0, t = 0; !nothing && k0 < s.k; k0 += depth, ++t) {
        ordered_gemm<float>(rows, columns, std::min(depth, s.k - k0), 1, {a.data() + k0, s.k, 1, false},
                            {b.data() + k0 * columns, columns, 1, false}, 0, sums.data(), columns, 1);
        parallel_for(rows, rows * columns > 1 << 16, [&](std::int64_t i) {
          const float row = args.alpha * scale_a(i0 + i, t);
          for (std::int64_t j = 0; j < columns; ++j) {
            float& sum = total[static_cast<std::size_t>(i * columns + j)];
            const float x = (row * scale_b(t, j0 + j)) * sums[static_cast<std::size_t>(i * columns + j)];
            sum = s.blocks ? sum + x : x;
          }
        });
      }
      parallel_for(rows, rows * columns > 1 << 14, [&](std::int64_t i) {
        auto* row = static_cast<std::byte*>(args.c) + ((i0 + i) * s.cm + j0 * s.cn) * size_bytes(s.out);
        finish_row(s.out, row, s.cn, columns, &total[static_cast<std::size_t>(i * columns)], s.beta != Factor::Zero,
                   args.beta, nothing);
      });
    }
  }
}

void quantize(const Executor&, const QuantizeArgs& args) {
  const QuantizeShape& s = args.shape;
  const auto largest = std::bit_cast<std::uint32_t>(static_cast<float>(float8_limits(s.q).largest));
  const auto top = static_cast<std::int32_t>(largest >> 23), fraction = static_cast<std::int32_t>(largest & 0x7fffff);
  // The scale of the numbers of a group, which it rounds.
  const auto whole = [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    std::vector<float> row(static_cast<std::size_t>(j1 - j0));
    Packed room;
    float most = 0;
    for (std::int64_t i = i0; i < i1; ++i) {
      load_run(DType::Float32, args.x + i * s.xr + j0 * s.xc, s.xc, j1 - j0, row.data(), room);
      for (const float v : row) {
        const float x = std::fabs(v);
        most = most > x || most != most ? most : x;
      }
    }
    const auto bits = std::bit_cast<std::uint32_t>(most);
    const std::int32_t exponent =
        static_cast<std::int32_t>(bits >> 23) + 127 - top + (static_cast<std::int32_t>(bits & 0x7fffff) > fraction);
    const auto held = static_cast<std::uint32_t>(std::clamp(exponent, 1, 253));
    const float inverse = std::bit_cast<float>((254 - held) << 23);
    for (std::int64_t i = i0; i < i1; ++i) {
      load_run(DType::Float32, args.x + i * s.xr + j0 * s.xc, s.xc, j1 - j0, row.data(), room);
      for (float& v : row) v *= inverse;
      store_run(row.data(), s.q, static_cast<std::byte*>(args.q) + i * s.qr + j0 * s.qc, s.qc, j1 - j0, room);
    }
    return std::bit_cast<float>(held << 23) + (most - most);
  };
  if (s.sr == 0 && s.rows > 1) {
    args.scale[0] = whole(0, s.rows, 0, s.columns);
    return;
  }
  const std::int64_t wide = s.sg == 0 ? s.columns : kScaleBlock;
  parallel_for(s.rows, s.rows * s.columns > 1 << 14, [&](std::int64_t i) {
    for (std::int64_t j = 0, g = 0; j < s.columns; j += wide, ++g)
      args.scale[i * s.sr + g * s.sg] = whole(i, i + 1, j, std::min(j + wide, s.columns));
  });
}

}  // namespace trn::blas::host
