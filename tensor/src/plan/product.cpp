// blas::gemm for each index of the batch.
#include "product.hpp"

#include <algorithm>

#include <trn/blas/gemm_ex.hpp>
#include <trn/core/error.hpp>

#include "../host/offsets.hpp"
#include "../kernels.hpp"

namespace trn::tensor {

namespace {

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The matrix of one operand, packed: [h][rows][columns]. Fills the packing's group with strides a (from) and d (to).
struct Packed {
  host::PointwiseArgs work;
  std::int64_t bytes;
};
Packed packing(const Group& h, const Group& rows, const Group& columns, std::int64_t FoldedIndex::*from, DType type,
               DType compute) {
  Packed p{{compute, compute, 1, {type}, {}}, 0};
  std::int64_t step = 1;
  for (const Group* g : {&columns, &rows, &h}) {
    for (const FoldedIndex& i : *g) {
      p.work.group.push_back({i.extent, i.*from, 0, 0, step});
      step *= std::max<std::int64_t>(1, i.extent);
    }
  }
  sort_and_merge(p.work.group, &FoldedIndex::d);
  p.bytes = rounded(step * size_bytes(compute));
  return p;
}

FoldedIndex single(const Group& g) { return g.empty() ? FoldedIndex{} : g.front(); }

void* advance(const void* data, std::int64_t elements, DType type) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(data)) + elements * size_bytes(type);
}

}  // namespace

Product prepare_product(const Folded& f, Mode mode, DType compute, DType a_type, DType b_type, bool conj_a,
                        bool conj_b) {
  Product p{f, mode, compute, conj_a, conj_b};
  p.pack_a = a_type != compute || f.m.size() > 1 || f.k.size() > 1;
  p.pack_b = b_type != compute || f.n.size() > 1 || f.k.size() > 1;
  p.unpack_d = f.m.size() > 1 || f.n.size() > 1;
  Group all = f.h;
  all.insert(all.end(), f.m.begin(), f.m.end());
  all.insert(all.end(), f.n.begin(), f.n.end());
  for (const FoldedIndex& i : all) p.c_like_d = p.c_like_d && i.c == i.d;
  if (p.pack_a) {
    auto [work, bytes] = packing(f.h, f.m, f.k, &FoldedIndex::a, a_type, compute);
    p.a_packing = work, p.a_bytes = bytes;
  }
  if (p.pack_b) {
    auto [work, bytes] = packing(f.h, f.k, f.n, &FoldedIndex::b, b_type, compute);
    p.b_packing = work, p.b_bytes = bytes;
  }
  // C to where gemm finds it, and D from there: dense, or in D's own place.
  p.c_packing = p.d_unpacking = {compute, compute, 1, {compute}, {}};
  std::int64_t step = 1;
  for (const Group* g : {&f.n, &f.m, &f.h}) {
    for (const FoldedIndex& i : *g) {
      p.c_packing.group.push_back({i.extent, i.c, 0, 0, p.unpack_d ? step : i.d});
      p.d_unpacking.group.push_back({i.extent, step, 0, 0, i.d});
      step *= std::max<std::int64_t>(1, i.extent);
    }
  }
  sort_and_merge(p.c_packing.group, &FoldedIndex::d);
  sort_and_merge(p.d_unpacking.group, &FoldedIndex::d);
  if (p.unpack_d) p.d_bytes = rounded(step * size_bytes(compute));
  return p;
}

double multiply(const Executor& executor, const Product& p, const ProductCall& call) {
  const Folded& f = p.folded;
  const std::int64_t m = extent_of(f.m), n = extent_of(f.n), k = extent_of(f.k), batch = extent_of(f.h);
  if (m == 0 || n == 0 || batch == 0) return 0;
  auto* workspace = static_cast<std::byte*>(call.workspace);
  const bool reads = call.scalars.alpha != std::complex<double>(0) && k > 0;
  const auto move = [&](const host::PointwiseArgs& work, const void* from, void* to) {
    dispatch(kPointwise, executor, {work, {{from}, {1, 1, 1}, to, call.threads}});
  };
  const auto packed = [&](bool pack, const host::PointwiseArgs& work, const void* from, std::int64_t bytes) {
    if (!pack) return from;
    void* to = workspace;
    workspace += bytes;
    if (reads) move(work, from, to);
    return static_cast<const void*>(to);
  };
  const void* a = packed(p.pack_a, p.a_packing, call.a, p.a_bytes);
  const void* b = packed(p.pack_b, p.b_packing, call.b, p.b_bytes);
  void* d = p.unpack_d ? workspace : call.d;
  const bool uses_c = call.scalars.beta != std::complex<double>(0);
  if (uses_c && (p.unpack_d || !(call.c == call.d && p.c_like_d))) move(p.c_packing, call.c, d);
  const std::complex<double> alpha = call.scalars.alpha, beta = call.scalars.beta;
  const FoldedIndex im = single(f.m), in = single(f.n), ik = single(f.k);
  const std::int64_t part = p.mode == Mode::Exact ? kExactDepth : std::max<std::int64_t>(1, k);
  double bound = 0;
  for (std::int64_t h = 0; h < batch; ++h) {
    std::int64_t at[4] = {};
    host::offset_at(f.h, h, at);
    const std::int64_t a_step = p.pack_a ? 1 : ik.a, b_step = p.pack_b ? n : ik.b;  // from one k to the next
    const blas::TypedMatrix md(executor, p.compute, advance(d, p.unpack_d ? h * m * n : at[3], p.compute), m, n,
                               p.unpack_d ? n : im.d, p.unpack_d ? 1 : in.d);
    // Conjugated, not transposed: the conjugate transpose of the transpose.
    const auto turned = [](blas::TypedMatrix& x) {
      std::swap(x.rows, x.columns);
      std::swap(x.row_stride, x.column_stride);
      return Op::C;
    };
    for (std::int64_t k0 = 0; k0 == 0 || k0 < k; k0 += part) {
      const std::int64_t depth = std::min(part, k - k0);
      blas::TypedMatrix ma(executor, p.compute, advance(a, (p.pack_a ? h * m * k : at[0]) + k0 * a_step, p.compute), m,
                           depth, p.pack_a ? k : im.a, a_step);
      blas::TypedMatrix mb(executor, p.compute, advance(b, (p.pack_b ? h * k * n : at[1]) + k0 * b_step, p.compute),
                           depth, n, b_step, p.pack_b ? 1 : in.b);
      const Op op_a = p.conj_a ? turned(ma) : Op::N, op_b = p.conj_b ? turned(mb) : Op::N;
      const std::complex<double> keep = k0 == 0 ? beta : 1;
      bound =
          std::max(bound, blas::gemm_ex(executor, op_a, op_b, alpha, ma, mb, keep, md, {.precision = p.mode}).bound);
    }
  }
  // Norms of parts multiply to less than those of the whole; each part is one more addition.
  if (k > part) bound += static_cast<double>((k - 1) / part) * 2 * unit_roundoff(p.compute);
  if (p.unpack_d) move(p.d_unpacking, d, call.d);
  return bound;
}

}  // namespace trn::tensor
