// Attention on the host: a product of OpenBLAS for each block, exponentials in between.
//
// Forward: a piece of work is a head and 128 queries, which keep all their scores (128 x keys). Backward: P and dS are
// made twice, row by row for dQ and column by column for dK and dV, so that each result is summed by one thread.
//
// A pair that is not allowed has no product: where a block has such pairs and rows that are not finite, those rows stay
// out of OpenBLAS's product and are added pair by pair.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "attention_kernels.hpp"

namespace trn::sparse::host {

namespace {

using Block = AttentionMask::Block;
constexpr std::int64_t kSide = AttentionMask::kBlock;

// Blocks by row, or by column.
std::vector<std::vector<Block>> sorted(const AttentionMask& mask, bool by_column) {
  const std::int64_t extent = by_column ? mask.keys() : mask.queries();
  std::vector<std::vector<Block>> lists(static_cast<std::size_t>((extent + kSide - 1) / kSide));
  for (const Block& b : mask.blocks()) lists[static_cast<std::size_t>(by_column ? b.column : b.row)].push_back(b);
  return lists;
}

template <class T> void product(Op op_a, Op op_b, T alpha, const T* a, std::int64_t m, std::int64_t k, std::int64_t lda,
                                const T* b, std::int64_t n, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  const Executor host = Executor::host();
  const MatrixView<const T> av(host, a, op_a == Op::N ? m : k, op_a == Op::N ? k : m, lda, 1);
  const MatrixView<const T> bv(host, b, op_b == Op::N ? k : n, op_b == Op::N ? n : k, ldb, 1);
  blas::gemm(host, op_a, op_b, alpha, av, bv, beta, MatrixView<T>(host, c, m, n, ldc, 1));
}

struct Span {
  std::int64_t first, count;
};
Span span_of(std::int64_t block, std::int64_t extent) {
  return {block * kSide, std::min(kSide, extent - block * kSide)};
}

// What forward and backward see of one head.
template <class T, class Args> struct Head {
  Head(const Args& args, std::int64_t h) : g(args), mask(*args.mask), o(*args.options) {
    const std::int64_t kv = h / (o.heads / o.kv_heads);
    q = g.q + h * mask.queries() * o.d, k = g.k + kv * mask.keys() * o.d, v = g.v + kv * mask.keys() * o.dv;
  }
  // (queries x keys of the block) scores, -infinity where no pair is allowed.
  void scores(const Block& b, T* to, std::int64_t ld) const {
    const Span i = span_of(b.row, mask.queries()), j = span_of(b.column, mask.keys());
    product<T>(Op::N, Op::T, static_cast<T>(o.scale), q + i.first * o.d, i.count, o.d, o.d, k + j.first * o.d, j.count,
               o.d, 0, to, ld);
    const std::uint8_t* flags = flags_of(b);
    if (flags == nullptr) return;
    for (std::int64_t r = 0; r < i.count; ++r) {
      for (std::int64_t c = 0; c < j.count; ++c) {
        if (flags[r * kSide + c] == 0) to[r * ld + c] = -std::numeric_limits<T>::infinity();
      }
    }
  }
  // The block's 128 x 128 flags; null where all of its pairs are allowed.
  const std::uint8_t* flags_of(const Block& b) const {
    return b.part < 0 ? nullptr : mask.parts()[static_cast<std::size_t>(b.part)].data();
  }
  const Args& g;
  const AttentionMask& mask;
  const AttentionOptions& o;
  const T *q, *k, *v;
};

// to += alpha W rows, or with Op::T alpha W^T rows, W (queries x keys) the weights of a block's pairs, 0 where none is
// allowed; rows (keys x width, or queries x width) and `to` are contiguous.
template <class T> void add_pairs(Op op, T alpha, const T* weights, std::int64_t queries, std::int64_t keys,
                                  std::int64_t ld, const std::uint8_t* flags, const T* rows, std::int64_t width,
                                  T* to) {
  const bool turned = op == Op::T;
  const std::int64_t results = turned ? keys : queries, depth = turned ? queries : keys;
  std::vector<std::int64_t> apart;
  for (std::int64_t r = 0; flags != nullptr && r < depth; ++r) {
    if (!std::all_of(rows + r * width, rows + (r + 1) * width, [](T x) { return std::isfinite(x); }))
      apart.push_back(r);
  }
  std::vector<T> finite;
  if (!apart.empty()) {
    finite.assign(rows, rows + depth * width);
    for (const std::int64_t r : apart) std::fill_n(finite.data() + r * width, width, T(0));
  }
  product<T>(op, Op::N, alpha, weights, results, depth, ld, apart.empty() ? rows : finite.data(), width, width, 1, to,
             width);
  for (const std::int64_t r : apart) {
    for (std::int64_t i = 0; i < results; ++i) {
      const std::int64_t query = turned ? r : i, key = turned ? i : r;
      if (flags[query * kSide + key] == 0) continue;
      const T factor = alpha * weights[query * ld + key];
      for (std::int64_t c = 0; c < width; ++c) to[i * width + c] += factor * rows[r * width + c];
    }
  }
}

template <class T>
void forward_rows(const AttentionArgs<T>& g, std::int64_t h, std::int64_t row, const std::vector<Block>& blocks) {
  const Head<T, AttentionArgs<T>> head(g, h);
  const AttentionOptions& o = *g.options;
  const Span i = span_of(row, head.mask.queries());
  T* out = g.o + (h * head.mask.queries() + i.first) * o.dv;
  T* sums = g.log_sums == nullptr ? nullptr : g.log_sums + h * head.mask.queries() + i.first;
  std::fill_n(out, i.count * o.dv, T(0));
  std::int64_t keys = 0;
  for (const Block& b : blocks) keys += span_of(b.column, head.mask.keys()).count;
  std::vector<T> p(static_cast<std::size_t>(i.count * keys));
  std::int64_t at = 0;
  for (const Block& b : blocks) {
    head.scores(b, p.data() + at, keys);
    at += span_of(b.column, head.mask.keys()).count;
  }
  std::vector<T> inverse(static_cast<std::size_t>(i.count), T(0));
  for (std::int64_t r = 0; r < i.count; ++r) {
    T* row_of_p = p.data() + r * keys;
    T most = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < keys; ++c) most = std::max(most, row_of_p[c]);
    const bool any = head.mask.has_keys(i.first + r);
    if (sums != nullptr && !any) sums[r] = std::numeric_limits<T>::infinity();
    if (!any) {
      std::fill_n(row_of_p, keys, T(0));
      continue;
    }
    for (std::int64_t c = 0; c < keys; ++c) sum += row_of_p[c] = std::exp(row_of_p[c] - most);
    inverse[static_cast<std::size_t>(r)] = 1 / sum;
    if (sums != nullptr) sums[r] = most + std::log(sum);
  }
  at = 0;
  for (const Block& b : blocks) {
    const Span j = span_of(b.column, head.mask.keys());
    add_pairs<T>(Op::N, 1, p.data() + at, i.count, j.count, keys, head.flags_of(b), head.v + j.first * o.dv, o.dv, out);
    at += j.count;
  }
  for (std::int64_t r = 0; r < i.count; ++r) {
    for (std::int64_t c = 0; c < o.dv; ++c) out[r * o.dv + c] *= inverse[static_cast<std::size_t>(r)];
  }
}

// P and dS = P (dP - D) of a block, each 128 x 128 with leading dimension 128.
template <class T> struct Backward {
  Backward(const AttentionBackwardArgs<T>& args, std::int64_t h) : head(args, h) {
    const std::int64_t queries = head.mask.queries(), dv = head.o.dv;
    d_o = args.d_o + h * queries * dv, o = args.o + h * queries * dv, sums = args.log_sums + h * queries;
  }
  void block(const Block& b, std::vector<T>& p, std::vector<T>& ds) const {
    const std::int64_t dv = head.o.dv;
    const Span i = span_of(b.row, head.mask.queries()), j = span_of(b.column, head.mask.keys());
    const std::uint8_t* flags = head.flags_of(b);
    p.resize(kSide * kSide), ds.resize(kSide * kSide);
    head.scores(b, p.data(), kSide);
    product<T>(Op::N, Op::T, 1, d_o + i.first * dv, i.count, dv, dv, head.v + j.first * dv, j.count, dv, 0, ds.data(),
               kSide);
    for (std::int64_t r = 0; r < i.count; ++r) {
      T dot = 0;
      for (std::int64_t c = 0; c < dv; ++c) dot += d_o[(i.first + r) * dv + c] * o[(i.first + r) * dv + c];
      for (std::int64_t c = 0; c < j.count; ++c) {
        const bool allowed = flags == nullptr || flags[r * kSide + c] != 0;
        T& value = p[static_cast<std::size_t>(r * kSide + c)];
        value = allowed ? std::exp(value - sums[i.first + r]) : T(0);
        T& slope = ds[static_cast<std::size_t>(r * kSide + c)];
        slope = value == 0 ? T(0) : value * (slope - dot);
      }
    }
  }
  Head<T, AttentionBackwardArgs<T>> head;
  const T *d_o, *o, *sums;
};

int threads_for(const AttentionMask& mask, const AttentionOptions& o) {
  return loop_threads(static_cast<std::int64_t>(mask.blocks().size()) * o.heads >= 8);
}

}  // namespace

template <class T> AttentionPlanned plan_attention(const Executor&, const AttentionPlanArgs& g) {
  if (g.options->precision.has_target() || g.options->precision.mode() != Mode::Native)
    fail<NotImplemented>("sparse.attention.plan: the host works in the elements' own type; modes are for devices");
  const double u = std::numeric_limits<T>::epsilon() / 2;
  const auto d = static_cast<double>(std::max(g.options->d, g.options->dv));
  const auto n = static_cast<double>(g.mask->most_keys());
  const auto m = static_cast<double>(g.mask->most_queries() * (g.options->heads / g.options->kv_heads));
  AttentionPlanned planned;
  planned.forward = {Mode::Native, 1, std::max(2 * d + 6, 2 * n + 11) * u};
  planned.backward = {Mode::Native, 1, std::max(2 * d + 6, 2 * std::max(n, m) + 11) * u};
  return planned;
}

template <class T> void attention(const Executor&, const AttentionArgs<T>& g) {
  const auto rows = sorted(*g.mask, false);
  const auto count = static_cast<std::int64_t>(rows.size());
  openmp_pieces(g.options->heads * count, threads_for(*g.mask, *g.options), [&](std::int64_t piece, int) {
    forward_rows(g, piece / count, piece % count, rows[static_cast<std::size_t>(piece % count)]);
  });
}

template <class T> void attention_backward(const Executor&, const AttentionBackwardArgs<T>& g) {
  const AttentionOptions& o = *g.options;
  const std::int64_t queries = g.mask->queries(), keys = g.mask->keys(), group = o.heads / o.kv_heads;
  const auto rows = sorted(*g.mask, false), columns = sorted(*g.mask, true);
  const auto row_count = static_cast<std::int64_t>(rows.size()),
             column_count = static_cast<std::int64_t>(columns.size());
  const T scale = static_cast<T>(o.scale);
  const int threads = threads_for(*g.mask, o);
  openmp_pieces(o.heads * row_count, threads, [&](std::int64_t piece, int) {
    const std::int64_t h = piece / row_count, row = piece % row_count;
    const Backward<T> back(g, h);
    const Span i = span_of(row, queries);
    T* out = g.d_q + (h * queries + i.first) * o.d;
    std::fill_n(out, i.count * o.d, T(0));
    std::vector<T> p, ds;
    for (const Block& b : rows[static_cast<std::size_t>(row)]) {
      const Span j = span_of(b.column, keys);
      back.block(b, p, ds);
      add_pairs<T>(Op::N, scale, ds.data(), i.count, j.count, kSide, back.head.flags_of(b), back.head.k + j.first * o.d,
                   o.d, out);
    }
  });
  openmp_pieces(o.kv_heads * column_count, threads, [&](std::int64_t piece, int) {
    const std::int64_t kv = piece / column_count, column = piece % column_count;
    const Span j = span_of(column, keys);
    T *dk = g.d_k + (kv * keys + j.first) * o.d, *dv = g.d_v + (kv * keys + j.first) * o.dv;
    std::fill_n(dk, j.count * o.d, T(0));
    std::fill_n(dv, j.count * o.dv, T(0));
    std::vector<T> p, ds;
    for (std::int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      const Backward<T> back(g, h);
      for (const Block& b : columns[static_cast<std::size_t>(column)]) {
        const Span i = span_of(b.row, queries);
        back.block(b, p, ds);
        const std::uint8_t* flags = back.head.flags_of(b);
        add_pairs<T>(Op::T, 1, p.data(), i.count, j.count, kSide, flags, back.d_o + i.first * o.dv, o.dv, dv);
        add_pairs<T>(Op::T, scale, ds.data(), i.count, j.count, kSide, flags, back.head.q + i.first * o.d, o.d, dk);
      }
    }
  });
}

#define TRN_HOST_ATTENTION(T)                                                             \
  template AttentionPlanned plan_attention<T>(const Executor&, const AttentionPlanArgs&); \
  template void attention(const Executor&, const AttentionArgs<T>&);                      \
  template void attention_backward(const Executor&, const AttentionBackwardArgs<T>&);
TRN_HOST_ATTENTION(float)
TRN_HOST_ATTENTION(double)
#undef TRN_HOST_ATTENTION

}  // namespace trn::sparse::host
