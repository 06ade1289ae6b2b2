// Reductions. Every sum is a tree whose shape depends on the number of terms and on the layout alone: leaves of kLeaf
// terms for each of a row of outputs, or of kRun terms in eight lanes for one output; leaves are added pairwise. Long
// sums of few outputs are cut into ranges, which threads share; the ranges' sums are added pairwise too.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <trn/core/parallel.hpp>

#include "offsets.hpp"
#include "pointwise.hpp"
#include "runs.hpp"

namespace trn::tensor::host {

namespace {

constexpr std::int64_t kLeaf = 32, kOutputs = 64, kLevels = 64;

template <class C> C identity_of(Binary op) {
  if constexpr (std::is_floating_point_v<C>) {
    if (op == Binary::Max) return -std::numeric_limits<C>::infinity();
    if (op == Binary::Min) return std::numeric_limits<C>::infinity();
  }
  return op == Binary::Mul ? C(1) : C(0);
}

// Pairwise sums of leaves that come one after another, each a row of `width` numbers.
template <class C> class Tree {
 public:
  Tree(Binary op, std::int64_t width) : op_(op), width_(width) {}
  void add(const C* leaf) {
    std::copy(leaf, leaf + width_, sums_[0]);
    std::int64_t level = 0;
    for (; (count_ >> level) & 1; ++level) {  // the earlier sum is on the left
      apply(op_, held_[level], sums_[0], width_);
      std::copy(held_[level], held_[level] + width_, sums_[0]);
    }
    std::copy(sums_[0], sums_[0] + width_, held_[level]);
    ++count_;
  }
  void finish(C* out) {
    bool first = true;
    for (std::int64_t level = 0; level < kLevels; ++level) {
      if (!((count_ >> level) & 1)) continue;
      if (!first) apply(op_, held_[level], out, width_);
      std::copy(held_[level], held_[level] + width_, out);
      first = false;
    }
    if (first) std::fill(out, out + width_, identity_of<C>(op_));
  }

 private:
  Binary op_;
  std::int64_t width_;
  std::uint64_t count_ = 0;
  C sums_[1][kOutputs];
  C held_[kLevels][kOutputs];
};

template <class C> struct Reduction {
  const ReduceArgs& s;
  const ReduceCall& call;

  // Terms of a run: out[i] = opA(a) opB(b).
  void terms(std::int64_t a, std::int64_t a_stride, std::int64_t b, std::int64_t b_stride, std::int64_t n,
             C* out) const {
    load_run(s.a_type, call.a, a, a_stride, n, out);
    apply(s.a_op, out, n);
    if (!s.product) return;
    C other[kRun];
    load_run(s.b_type, call.b, b, b_stride, n, other);
    apply(s.b_op, other, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] *= other[i];
  }

  // One output: terms begin ... end - 1 of the flat summed index.
  C sum(std::int64_t a, std::int64_t b, std::int64_t begin, std::int64_t end) const {
    Tree<C> tree(s.reduce, 1);
    const FoldedIndex inner = s.summed.empty() ? FoldedIndex{} : s.summed.front();
    C leaf[kRun];
    for (std::int64_t at = begin; at < end;) {
      std::int64_t n = 0;
      for (; n < kRun && at < end;) {
        std::int64_t offset[4] = {};
        offset_at(s.summed, at, offset);
        const std::int64_t run = std::min({inner.extent - at % inner.extent, kRun - n, end - at});
        terms(a + offset[0], inner.a, b + offset[1], inner.b, run, leaf + n);
        n += run;
        at += run;
      }
      C lane[8];
      std::fill(lane, lane + 8, identity_of<C>(s.reduce));
      for (std::int64_t i = 0; i < n; i += 8) apply(s.reduce, lane, leaf + i, std::min<std::int64_t>(8, n - i));
      for (std::int64_t width = 4; width > 0; width /= 2) {
        for (std::int64_t i = 0; i < width; ++i) {
          C pair = lane[2 * i];
          apply(s.reduce, &pair, &lane[2 * i + 1], 1);
          lane[i] = pair;
        }
      }
      tree.add(lane);
    }
    C result;
    tree.finish(&result);
    return result;
  }

  // A row of outputs along the innermost kept index.
  void row(const std::int64_t at[4], const FoldedIndex& inner, std::int64_t first, std::int64_t n, C* out) const {
    Tree<C> tree(s.reduce, n);
    const std::int64_t count = extent_of(s.summed);
    C leaf[kOutputs], term[kRun];
    for (std::int64_t r0 = 0; r0 < count; r0 += kLeaf) {
      std::fill(leaf, leaf + n, identity_of<C>(s.reduce));
      for (std::int64_t r = r0; r < std::min(count, r0 + kLeaf); ++r) {
        std::int64_t offset[4] = {};
        offset_at(s.summed, r, offset);
        terms(at[0] + offset[0] + first * inner.a, inner.a, at[1] + offset[1] + first * inner.b, inner.b, n, term);
        apply(s.reduce, leaf, term, n);
      }
      tree.add(leaf);
    }
    tree.finish(out);
  }

  void finish(const std::int64_t at[4], const FoldedIndex& inner, std::int64_t first, std::int64_t n, C* x) const {
    const bool nothing = s.reduce == Binary::Add && extent_of(s.summed) == 0;  // beta C alone, as for empty products
    if (nothing || call.alpha == std::complex<double>(0)) {
      std::fill(x, x + n, C(0));
    } else {
      scale_run(call.alpha, x, n);
    }
    if (call.beta != std::complex<double>(0)) {
      C c[kRun];
      load_run(s.c_type, call.c, at[2] + first * inner.c, inner.c, n, c);
      apply(s.c_op, c, n);
      scale_run(call.beta, c, n);
      for (std::int64_t i = 0; i < n; ++i) x[i] += c[i];
    }
    apply(s.result, x, n);
    store_run(s.out, call.d, at[3] + first * inner.d, inner.d, n, x);
  }

  void by_rows(std::int64_t outputs) const {
    const FoldedIndex inner = s.kept.front();
    const Group outer(s.kept.begin() + 1, s.kept.end());
    const std::int64_t chunks = (inner.extent + kOutputs - 1) / kOutputs;
    for_ranges(outputs / inner.extent * chunks, call.threads, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t at[4] = {};
        offset_at(outer, i / chunks, at);
        const std::int64_t first = i % chunks * kOutputs, n = std::min(kOutputs, inner.extent - first);
        C x[kOutputs];
        row(at, inner, first, n, x);
        finish(at, inner, first, n, x);
      }
    });
  }

  void one_by_one(std::int64_t outputs, std::int64_t count) const {
    const FoldedIndex point{};
    // Few long sums: ranges of a fixed length.
    const bool cut = outputs < 64 && count > 1 << 17;
    const std::int64_t range = !cut ? std::max<std::int64_t>(count, 1)
                                    : (std::max<std::int64_t>(count / 64 + 1, 1 << 16) + kRun - 1) / kRun * kRun;
    const std::int64_t ranges = std::max<std::int64_t>(1, (count + range - 1) / range);
    const auto output = [&](std::int64_t i, std::int64_t at[4]) { offset_at(s.kept, i, at); };
    if (!cut) {
      for_ranges(outputs, call.threads, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t at[4] = {};
          output(i, at);
          C x = sum(at[0], at[1], 0, count);
          finish(at, point, 0, 1, &x);
        }
      });
      return;
    }
    std::vector<C> partial(static_cast<std::size_t>(outputs * ranges));
    for_ranges(outputs * ranges, call.threads, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t at[4] = {};
        output(i / ranges, at);
        const std::int64_t first = i % ranges * range;
        partial[static_cast<std::size_t>(i)] = sum(at[0], at[1], first, std::min(count, first + range));
      }
    });
    for (std::int64_t i = 0; i < outputs; ++i) {
      Tree<C> tree(s.reduce, 1);
      for (std::int64_t r = 0; r < ranges; ++r) tree.add(&partial[static_cast<std::size_t>(i * ranges + r)]);
      C x;
      tree.finish(&x);
      std::int64_t at[4] = {};
      output(i, at);
      finish(at, point, 0, 1, &x);
    }
  }

  void all() const {
    const std::int64_t outputs = extent_of(s.kept);
    const std::int64_t count = call.alpha == std::complex<double>(0) ? 0 : extent_of(s.summed);
    if (outputs == 0) return;
    if (count == 0) {  // nothing is read but C
      if (s.kept.empty()) {
        const std::int64_t at[4] = {};
        C x = identity_of<C>(s.reduce);
        return finish(at, FoldedIndex{}, 0, 1, &x);
      }
      ReduceArgs none = s;
      none.summed = {{0}};
      return Reduction<C>{none, call}.by_rows(outputs);
    }
    const auto step = [](const Group& g) {  // of the innermost index, in the operand that is read
      if (g.empty()) return std::numeric_limits<std::int64_t>::max();
      const std::int64_t a = std::abs(g.front().a), b = std::abs(g.front().b);
      return a == 0 ? b : b == 0 ? a : std::min(a, b);
    };
    const bool rows = !s.kept.empty() && s.kept.front().extent >= 4 &&
                      (s.summed.empty() || step(s.kept) < step(s.summed) || extent_of(s.summed) < 8);
    rows ? by_rows(outputs) : one_by_one(outputs, count);
  }
};

}  // namespace

void reduce(const ReduceArgs& args, const ReduceCall& call) {
  with_compute(args.compute, [&]<class C>() { Reduction<C>{args, call}.all(); });
}

double tree_roundings(std::int64_t n) {
  if (n <= 1) return 0;
  const auto levels = static_cast<double>(std::bit_width(static_cast<std::uint64_t>((n - 1) / kLeaf)));
  return std::min(static_cast<double>(n - 1), static_cast<double>(kLeaf) + 3 + levels);
}

}  // namespace trn::tensor::host
