// Elementwise operations and reductions on the device.
//
// Pointwise: tiles of up to 1024 elements per partition, D's innermost indices in the free dimension, the next ones on
// partitions; one load per term, one store.
//
// Reductions: kept elements on partitions and in the free dimension (Q of them), F elements of the sum beside each, so
// that one tensor_reduce gives (P, Q) partial results, which a sequential loop over the rest of the sum adds up. In
// SBUF the one whose stride in A is 1 is innermost: runs are long whichever way A lies, and the engine reads the other
// way with a stride.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "numbers.hpp"

namespace trn::tensor::device {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxPart;
using host::PointwiseArgs;
using host::ReduceArgs;

namespace {

constexpr std::int64_t kFree = 1024;  // elements per partition of a tile: 4 KiB, eight tiles in two buffers take 64
constexpr std::int64_t kRun = 256;    // kept elements side by side where they are what is contiguous

bool single_precision(DType t) { return real_of(t) != DType::Float64; }

void refuse_type(DType dtype, const char* what) {
  if (single_precision(dtype)) return;
  fail<NotImplemented>(
      "tensor.{}: no device kernel computes in {}; permutations move it, contractions take Precision Exact, or use the "
      "host executor",
      what, name(dtype));
}
void refuse_operator(Unary op, bool complex, const char* what) {
  if (has_device(op, complex)) return;
  fail<NotImplemented>("tensor.{}: operator {} has no device kernel for {} numbers; use the host executor", what,
                       name(op), complex ? "complex" : "real");
}

bool unit_in(const BoxGroup& group, std::size_t operand, std::int64_t words) {
  return std::any_of(group.begin(), group.end(),
                     [&](const blocks::BoxIndex& i) { return i.extent > 1 && std::abs(i.stride[operand]) == words; });
}
void sort_by(BoxGroup& group, std::size_t operand) {
  std::stable_sort(group.begin(), group.end(), [operand](const auto& x, const auto& y) {
    const std::int64_t sx = std::abs(x.stride[operand]), sy = std::abs(y.stride[operand]);
    return (sx == 0) != (sy == 0) ? sy == 0 : sx < sy;
  });
}
// How a reduction is laid out.
struct Layout {
  BoxGroup kept, summed;
  bool kept_inside = false;  // kept elements are innermost in SBUF
  std::int64_t most_kept = 1;
  blocks::Cut sum_cut;
};
Layout layout_of(const ReduceArgs& s) {
  const std::int64_t words = words_of(s.a_type);
  const std::array<std::int64_t, 4> all_words{words, s.product ? words_of(s.b_type) : 1, words_of(s.c_type),
                                              words_of(s.out)};
  Layout l{boxes_of(s.kept, all_words), boxes_of(s.summed, all_words)};
  sort_by(l.summed, 0);
  l.kept_inside = unit_in(l.kept, 0, words) && !unit_in(l.summed, 0, words);
  sort_by(l.kept, l.kept_inside ? 0 : 3);
  if (l.kept_inside) {
    l.most_kept = kRun;
    l.sum_cut = blocks::cut_of(
        l.summed, std::max<std::int64_t>(1, kFree / blocks::box_size(l.kept, blocks::cut_of(l.kept, kRun))));
  } else {
    l.sum_cut = blocks::cut_of(l.summed, kFree);
    l.most_kept = std::max<std::int64_t>(1, kFree / blocks::box_size(l.summed, l.sum_cut));
  }
  return l;
}

}  // namespace

void check_pointwise(const PointwiseArgs& s) {
  refuse_type(s.compute, "elementwise");
  for (int t = 0; t < s.terms; ++t) refuse_operator(s.ops[t], is_complex(s.types[t]), "elementwise");
  refuse_operator(s.result, is_complex(s.compute), "elementwise");
}

void check_reduce(const ReduceArgs& s) {
  refuse_type(s.compute, "reduce");
  refuse_operator(s.a_op, is_complex(s.a_type), "reduce");
  if (s.product) refuse_operator(s.b_op, is_complex(s.b_type), "reduce");
  refuse_operator(s.c_op, is_complex(s.c_type), "reduce");
  refuse_operator(s.result, is_complex(s.compute), "reduce");
  if (is_complex(s.compute) && s.reduce != Binary::Add)
    fail<NotImplemented>("tensor.reduce: products of complex numbers have no device kernel; use the host executor");
}

double sum_roundings(const ReduceArgs& s) {
  if (extent_of(s.kept) == 0 || extent_of(s.summed) == 0) return 0;
  const Layout l = layout_of(s);
  const std::int64_t total = blocks::extent_of(l.summed);
  return static_cast<double>(std::min(total, blocks::box_size(l.summed, l.sum_cut)) +
                             blocks::units_of(l.summed, l.sum_cut, std::numeric_limits<std::int64_t>::max() / 2));
}

void record_pointwise(Builder& b, const PointwiseArgs& s, const Tensors& at, const std::array<Factor, 3>& kinds,
                      const Factors& factors) {
  std::array<std::int64_t, 4> words{1, 1, 1, words_of(s.out)};
  for (int t = 0; t < s.terms; ++t) words[static_cast<std::size_t>(t)] = words_of(s.types[t]);
  const Numbers n(b, 2);
  for_tiles(b, "e", boxes_of(s.group, words), is_complex(s.compute) ? kFree / 2 : kFree,
            [&](const BoxPart& part, const BoxGroup& free) {
              const std::int64_t rows = part.size, columns = blocks::extent_of(free);
              Number sum;
              for (int t = 0; t < s.terms; ++t) {
                const auto i = static_cast<std::size_t>(t);
                const std::string name = fmt::format("x{}", t);
                Number x;
                if (kinds[i] == Factor::Zero) {
                  x = n.fresh(name + "_zero", rows, columns, false);
                  b.memset(x.re, 0, Engine::Vector);
                } else {
                  const Access raw = n.tile(name, s.types[t], rows, columns);
                  b.dma_copy(raw, pattern_of(at[i], part.offset[i], {&part.box, &free}, i, words[i]));
                  x = n.scaled(n.apply(s.ops[t], Numbers::parts(raw, s.types[t]), name + "_op"), kinds[i], factors[i],
                               name + "_scaled");
                }
                sum = t == 0 ? x : n.joined(t == 1 ? s.ab : s.abc, sum, x, fmt::format("sum{}", t));
              }
              const Access out = n.tile("out", s.out, rows, columns);
              n.put(out, s.out, n.apply(s.result, sum, "result"));
              b.dma_copy(pattern_of(at[3], part.offset[3], {&part.box, &free}, 3, words[3]), out);
            });
}

void record_reduce(Builder& b, const ReduceArgs& s, const Tensors& at, const std::array<Factor, 3>& kinds,
                   const Factors& factors) {
  const Layout l = layout_of(s);
  const bool complex = is_complex(s.a_type) || (s.product && is_complex(s.b_type));
  const Numbers n(b, 2);
  const AluOp op = operator_of(s.reduce);
  const double start = s.reduce == Binary::Add   ? 0
                       : s.reduce == Binary::Mul ? 1
                       : s.reduce == Binary::Max ? -std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::infinity();
  // Alpha and beta are factors 0 and 1.
  for_tiles(b, "r", l.kept, l.most_kept, [&](const BoxPart& part, const BoxGroup& free) {
    const std::int64_t rows = part.size, q = blocks::extent_of(free);
    const Number acc = n.fresh("acc", rows, q, complex);
    const std::int64_t pieces = blocks::units_of(l.summed, l.sum_cut, std::numeric_limits<std::int64_t>::max() / 2);
    if (pieces > 1) {
      b.memset(acc.re, start, Engine::Vector);
      if (complex) b.memset(acc.im, start, Engine::Vector);
    }
    blocks::for_parts(b, "s", l.summed, l.sum_cut, LoopKind::Sequential, 1, [&](const BoxPart& sum) {
      const std::int64_t f = sum.size;
      const auto load = [&](std::size_t i, DType type, Unary unary) {
        const std::string name = i == 0 ? "x" : "y";
        const Access raw = n.tile(name, type, rows, q * f);
        const std::vector<const BoxGroup*> boxes = {&part.box, l.kept_inside ? &sum.box : &free,
                                                    l.kept_inside ? &free : &sum.box};
        b.dma_copy(raw, pattern_of(at[i], part.offset[i] + sum.offset[i], boxes, i, words_of(type)));
        return n.apply(unary, Numbers::parts(raw, type), name + "_op");
      };
      Number x = load(0, s.a_type, s.a_op);
      if (s.product) x = n.joined(Binary::Mul, x, load(1, s.b_type, s.b_op), "xy");
      const auto reduce = [&](const Access& to, const Access& from) {
        Access view = from;  // (P, q, f)
        const std::int64_t step = from.dims.back().stride;
        view.dims =
            l.kept_inside ? std::vector<Dim>{{step, q}, {step * q, f}} : std::vector<Dim>{{step * f, q}, {step, f}};
        if (pieces == 1) return b.tensor_reduce(to, op, view);
        const Access one = b.sbuf("partial", rows, {q}, DType::Float32, 2);
        b.tensor_reduce(one, op, view);
        b.tensor_tensor(to, to, one, op, Engine::Vector);
      };
      reduce(acc.re, x.re);
      if (complex) reduce(acc.im, x.im);
    });
    Number result = n.scaled(acc, kinds[0], factors[0], "alpha_sum");
    if (kinds[1] != Factor::Zero) {
      const Access old = n.tile("c", s.c_type, rows, q);
      b.dma_copy(old, pattern_of(at[2], part.offset[2], {&part.box, &free}, 2, words_of(s.c_type)));
      const Number c = n.scaled(n.apply(s.c_op, Numbers::parts(old, s.c_type), "c_op"), kinds[1], factors[1], "beta_c");
      result = n.joined(Binary::Add, result, c, "total");
    }
    const Access out = n.tile("out", s.out, rows, q);
    n.put(out, s.out, n.apply(s.result, result, "result"));
    b.dma_copy(pattern_of(at[3], part.offset[3], {&part.box, &free}, 3, words_of(s.out)), out);
  });
}

}  // namespace trn::tensor::device
