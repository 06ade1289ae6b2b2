// mx_gemm and mx_quantize on the host, with the bits of the device: values times scales as floats, panel by panel, and
// ordered_gemm adds 512 products at a time in the order of the Tensor Engine.
#include <algorithm>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels/mx.hpp"
#include "mx_values.hpp"
#include "narrow_rows.hpp"
#include "ordered_gemm.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kPanelRows = 1024, kPanelColumns = 2048, kDepth = 512;

// Rows [r0, r0 + rows) as floats, (k, rows) with rows contiguous, as they are stored.
void widen(const MxMatrix& x, std::int64_t r0, std::int64_t rows, float* out) {
  const std::array<float, 256> values = mx_values(x.type());
  const std::uint8_t *data = x.data().data(), *scales = x.scales().data();
  const std::int64_t bits = x.bits(), stride = x.padded_rows();
  parallel_for((x.depth() + kMxGroup - 1) / kMxGroup, x.depth() * rows > 1 << 16, [&](std::int64_t g) {
    std::vector<float> scale(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) scale[static_cast<std::size_t>(i)] = mx_scale(scales[g * stride + r0 + i]);
    for (std::int64_t k = g * kMxGroup; k < std::min((g + 1) * kMxGroup, x.depth()); ++k) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const MxPlace at = mx_place(bits, stride, r0 + i, k);
        const int code = bits == 8 ? data[at.byte] : data[at.byte] >> at.shift & 15;
        out[k * rows + i] = values[static_cast<std::size_t>(code)] * scale[static_cast<std::size_t>(i)];
      }
    }
  });
}

}  // namespace

void mx_gemm(const Executor&, const MxGemmArgs& args) {
  const MxGemmShape& s = args.shape;
  const bool nothing = s.k == 0 || s.alpha == Factor::Zero;
  std::vector<float> a, b, sums;
  for (std::int64_t j0 = 0; j0 < s.n; j0 += kPanelColumns) {
    const std::int64_t columns = std::min(kPanelColumns, s.n - j0);
    if (!nothing) {
      b.resize(static_cast<std::size_t>(s.k * columns));
      widen(*args.b, j0, columns, b.data());
    }
    for (std::int64_t i0 = 0; i0 < s.m; i0 += kPanelRows) {
      const std::int64_t rows = std::min(kPanelRows, s.m - i0);
      sums.assign(static_cast<std::size_t>(rows * columns), 0);
      if (!nothing) {
        a.resize(static_cast<std::size_t>(s.k * rows));
        widen(*args.a, i0, rows, a.data());
        ordered_gemm<float>(rows, columns, s.k, 1, {a.data(), 1, rows, false}, {b.data(), columns, 1, false}, 0,
                            sums.data(), columns, 1, kDepth);
      }
      parallel_for(rows, rows * columns > 1 << 14, [&](std::int64_t i) {
        float* row = &sums[static_cast<std::size_t>(i * columns)];
        for (std::int64_t j = 0; j < columns; ++j) row[j] *= args.alpha;
        finish_row(s.out, static_cast<std::byte*>(args.c) + ((i0 + i) * s.cm + j0 * s.cn) * size_bytes(s.out), s.cn,
                   columns, row, s.beta != Factor::Zero, args.beta, nothing);
      });
    }
  }
}

void mx_quantize(const Executor&, const MxQuantizeArgs& args) {
  const MxQuantizeShape& s = args.shape;
  const MxMatrix& to = *args.to;
  const MxFacts facts = mx_facts(s.type);
  const std::int64_t stride = to.padded_rows(), bits = to.bits();
  std::uint8_t *data = to.data().data(), *scales = to.scales().data();
  std::fill_n(data, to.data().size(), std::uint8_t{0});
  std::fill_n(scales, to.scales().size(), std::uint8_t{0});
  const auto* x = static_cast<const std::byte*>(args.x);
  Packed room;
  for (std::int64_t k0 = 0; k0 < s.depth; k0 += kMxGroup) {
    const std::int64_t count = std::min(kMxGroup, s.depth - k0);
    for (std::int64_t i = 0; i < s.rows; ++i) {
      float values[kMxGroup], most = 0;
      bool finite = true;
      load_run(s.in, x + (i * s.xr + k0 * s.xk) * size_bytes(s.in), s.xk, count, values, room);
      for (std::int64_t q = 0; q < count; ++q) {
        finite = finite && std::isfinite(values[q]);
        most = std::max(most, std::fabs(values[q]));
        require(bits == 8 || !std::isnan(values[q]), "blas.mx_quantize: x({}, {}) is NaN, which {} does not have", i,
                k0 + q, name(s.type));
      }
      constexpr int kBeyond = 128, kBias = 127, kLast = 254;
      const int scale =
          finite && most == 0
              ? 0
              : std::clamp((finite ? std::ilogb(most) : kBeyond) - (facts.largest_exponent - 1) + kBias, 0, kLast);
      scales[k0 / kMxGroup * stride + i] = static_cast<std::uint8_t>(scale);
      for (std::int64_t q = 0; q < count; ++q) {
        const double quotient = std::ldexp(static_cast<double>(values[q]), kBias - scale);
        values[q] =
            static_cast<float>(std::isnan(quotient) ? quotient : std::clamp(quotient, -facts.largest, facts.largest));
      }
      std::uint8_t codes[kMxGroup];
      mx_codes(s.type, values, codes, count);
      for (std::int64_t q = 0; q < count; ++q) {
        const MxPlace at = mx_place(bits, stride, i, k0 + q);
        data[at.byte] |= static_cast<std::uint8_t>(codes[q] << at.shift);
      }
    }
  }
}

}  // namespace trn::blas::host
